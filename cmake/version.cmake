# generated/fp_version.h. It is looked at in every build and rewritten only when it would differ, so
# that a build without a new commit compiles nothing.
add_custom_target(fp_version
  COMMAND ${CMAKE_COMMAND}
    -DSOURCE_DIR=${CMAKE_SOURCE_DIR}
    -DOUTPUT=${GENERATED_DIR}/fp_version.h
    -DVERSION=${PROJECT_VERSION}
    -P ${CMAKE_SOURCE_DIR}/cmake/write_version.cmake
  BYPRODUCTS ${GENERATED_DIR}/fp_version.h
  COMMENT ""
  VERBATIM)
