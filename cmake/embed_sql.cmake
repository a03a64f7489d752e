# SQL becomes C at build time, see tools/embed_sql.c. Fills FP_STRATEGY_SQL and FP_PG_SQL with the
# generated sources; the target fp_sql makes all of them.
add_executable(embed_sql tools/embed_sql.c)

set(FP_STRATEGY_SQL "")
set(FP_PG_SQL "")

file(GLOB strategy_dirs CONFIGURE_DEPENDS LIST_DIRECTORIES true reference_impl/*)
foreach(dir ${strategy_dirs})
  if(NOT IS_DIRECTORY ${dir})
    continue()
  endif()
  get_filename_component(strategy ${dir} NAME)
  file(GLOB whole CONFIGURE_DEPENDS ${dir}/*.sql)
  file(GLOB named CONFIGURE_DEPENDS ${dir}/sql/*.sql)
  if(NOT whole AND NOT named)
    continue()
  endif()
  set(out ${GENERATED_DIR}/${strategy}_sql)
  add_custom_command(
    OUTPUT ${out}.c ${out}.h
    COMMAND embed_sql ${strategy} ${out}.h ${out}.c --whole ${whole} --named ${named}
    DEPENDS embed_sql ${whole} ${named}
    COMMENT "Embedding the SQL of ${strategy}"
    VERBATIM)
  list(APPEND FP_STRATEGY_SQL ${out}.c)
endforeach()

file(GLOB pg_sql CONFIGURE_DEPENDS sim/pg/*.sql)
if(pg_sql)
  set(out ${GENERATED_DIR}/pg_sql)
  add_custom_command(
    OUTPUT ${out}.c ${out}.h
    COMMAND embed_sql pg ${out}.h ${out}.c --whole ${pg_sql}
    DEPENDS embed_sql ${pg_sql}
    COMMENT "Embedding the SQL of the harness"
    VERBATIM)
  list(APPEND FP_PG_SQL ${out}.c)
endif()

add_custom_target(fp_sql DEPENDS ${FP_STRATEGY_SQL} ${FP_PG_SQL})
file(MAKE_DIRECTORY ${GENERATED_DIR})
