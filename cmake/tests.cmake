# Every tests/<kind>/test_*.c is a cmocka binary and every tests/<kind>/test_*.sh a script; <kind> is
# the ctest label. A comment line `# fencepost-test: timeout=300 serial` changes how it runs;
# `plain-only` leaves it out of sanitizer builds.
# Tests run in the source directory and find the build in FENCEPOST_BUILD, the binary in
# FENCEPOST_BIN. run_one.sh counts what passed and enforces the timeout.
set(FP_TALLY_DIR ${CMAKE_BINARY_DIR}/tally)

function(fp_add_test name kind file)
  set(timeout_unit 60)
  set(timeout_tidy 60)
  set(timeout_golden 120)
  set(timeout_fuzz 120)
  set(timeout_integration 300)
  set(timeout_s ${timeout_${kind}})
  file(STRINGS ${file} wishes REGEX "^(#|//|/[*]| [*]) fencepost-test:")
  if(wishes MATCHES "plain-only" AND CMAKE_C_FLAGS_RELWITHDEBINFO MATCHES "sanitize")
    return()
  endif()
  if(wishes MATCHES "timeout=([0-9]+)")
    set(timeout_s ${CMAKE_MATCH_1})
  endif()
  math(EXPR timeout_s "${timeout_s} * ${FENCEPOST_TIMEOUT_FACTOR}")
  # ctest's own limit is only the net below run_one.sh's, which also ends the test's children.
  math(EXPR net_s "${timeout_s} + 30")

  add_test(NAME ${name}
    COMMAND bash ${CMAKE_SOURCE_DIR}/tests/lib/run_one.sh
      ${FP_TALLY_DIR}/${name} ${timeout_s} ${ARGN}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES
    LABELS ${kind} TIMEOUT ${net_s} SKIP_RETURN_CODE 77
    ENVIRONMENT "FENCEPOST_ROOT=${CMAKE_SOURCE_DIR};FENCEPOST_BUILD=${CMAKE_BINARY_DIR};FENCEPOST_BIN=${CMAKE_BINARY_DIR}/fencepost;FENCEPOST_TIMEOUT_FACTOR=${FENCEPOST_TIMEOUT_FACTOR}")
  if(wishes MATCHES "serial")
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()

file(GLOB testlib_sources CONFIGURE_DEPENDS tests/lib/*.c)
if(testlib_sources)
  add_library(fp_testlib STATIC ${testlib_sources})
  add_dependencies(fp_testlib fp_version fp_sql)
  target_link_libraries(fp_testlib PRIVATE PkgConfig::CMOCKA PkgConfig::PQ PkgConfig::JANSSON)
  set(FP_TESTLIB fp_testlib)
endif()

if(NOT FENCEPOST_FUZZ)
  foreach(kind unit golden integration)
    file(GLOB sources CONFIGURE_DEPENDS tests/${kind}/test_*.c)
    foreach(source ${sources})
      get_filename_component(stem ${source} NAME_WE)
      set(target ${kind}_${stem})
      add_executable(${target} ${source})
      add_dependencies(${target} fp_version fp_sql)
      target_link_libraries(${target} PRIVATE
        ${FP_TESTLIB} ${FP_LINK} PkgConfig::CMOCKA PkgConfig::PQ PkgConfig::JANSSON)
      fp_add_test(${kind}.${stem} ${kind} ${source} $<TARGET_FILE:${target}>)
    endforeach()
  endforeach()

  # Programs that scripts start: tests/<kind>/*_holder.c, found in FENCEPOST_BUILD.
  file(GLOB holders CONFIGURE_DEPENDS tests/*/*_holder.c)
  foreach(source ${holders})
    get_filename_component(stem ${source} NAME_WE)
    add_executable(${stem} ${source})
    add_dependencies(${stem} fp_version fp_sql)
    target_link_libraries(${stem} PRIVATE ${FP_LINK})
  endforeach()

  foreach(kind unit tidy golden integration)
    file(GLOB scripts CONFIGURE_DEPENDS tests/${kind}/test_*.sh)
    foreach(script ${scripts})
      get_filename_component(stem ${script} NAME_WE)
      fp_add_test(${kind}.${stem} ${kind} ${script} bash ${script})
    endforeach()
  endforeach()
endif()

# Without clang a fuzz target is run over the kept inputs only; with FENCEPOST_FUZZ it looks for new
# ones. The inputs of tests/fuzz/fuzz_x.c are in tests/fuzz/corpus/x/.
file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
set(FENCEPOST_FUZZ_S 60 CACHE STRING "Seconds per fuzz target")
foreach(source ${fuzzers})
  get_filename_component(stem ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" unit ${stem})
  set(kept ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${unit})
  if(NOT EXISTS ${kept})
    set(kept "")
  endif()
  if(FENCEPOST_FUZZ)
    add_executable(${stem} ${source})
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    set(found ${CMAKE_BINARY_DIR}/found/${unit})
    file(MAKE_DIRECTORY ${found})
    fp_add_test(fuzz.${unit} fuzz ${source} $<TARGET_FILE:${stem}>
      -max_total_time=${FENCEPOST_FUZZ_S} -artifact_prefix=${CMAKE_BINARY_DIR}/found/ ${found} ${kept})
  else()
    add_executable(${stem} ${source} tests/fuzz/replay_main.c)
    fp_add_test(fuzz.${unit} fuzz ${source} $<TARGET_FILE:${stem}> ${kept})
  endif()
  add_dependencies(${stem} fp_version fp_sql)
  target_link_libraries(${stem} PRIVATE ${FP_LINK})
endforeach()
