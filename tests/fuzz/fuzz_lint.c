/* Any bytes at all, as a SQL file: lint must come to an end and leave nothing behind. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/lint/lint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strbuf out = STRBUF_INIT;
    struct lint_schema *schema = lint_schema_new();
    char *text = fp_alloc(size + 1);

    if (size > 0)
        memcpy(text, data, size);
    lint_read(schema, "fuzz.sql", NULL, text);
    struct lint_report report = lint_judge(schema);
    for (const struct lint_finding *at = report.findings; at != NULL; at = at->next)
        lint_put_finding(&out, at);
    free(text);
    strbuf_release(&out);
    lint_schema_free(schema);
    return 0;
}
