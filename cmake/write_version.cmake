# Writes OUTPUT from VERSION and the commit of SOURCE_DIR. A source tree that lies inside some other
# repository is not that repository's commit.
set(commit "unknown")
if(EXISTS ${SOURCE_DIR}/.git)
  execute_process(
    COMMAND git -C ${SOURCE_DIR} describe --always --dirty --exclude=* --abbrev=12
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND described MATCHES "^[0-9a-f]+(-dirty)?$")
    set(commit ${described})
  endif()
endif()

set(text "/* Generated; do not edit. */
#ifndef FENCEPOST_VERSION_H
#define FENCEPOST_VERSION_H

#define FP_VERSION \"${VERSION}\"
#define FP_GIT_COMMIT \"${commit}\"

#endif
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
