/* The checklist of the concurrency standards, for SQL files and databases. README.md has the rules.
 */
#ifndef FENCEPOST_LINT_H
#define FENCEPOST_LINT_H

#include "sim/core/strbuf.h"
#include "sim/lint/schema.h"

struct lint_finding {
    struct lint_finding *next;
    const char *rule;
    struct lint_place place;
    const char *what; /* one sentence, without its full stop */
    const char *fix;  /* the same */
};

struct lint_report {
    struct lint_finding *findings; /* by rule, then in the order of the texts */
    size_t finding_count;
    /* No UPDATE was given: the rules about statements have nothing to judge. */
    bool has_statements;
};

/* Everything lives in the schema's arena. */
struct lint_report lint_judge(struct lint_schema *schema);

/* The names of the rules that need statements, ended by NULL. */
extern const char *const lint_statement_rules[];

/* "file:line:column: rule: what; fix" or "object: rule: ..." */
void lint_put_finding(struct strbuf *out, const struct lint_finding *finding);

#endif
