/* Any bytes at all, as a scenario file: the loader must answer with a scenario or with diagnostics,
 * never with both, and leave nothing behind. */
#include <stdint.h>
#include <stdlib.h>

#include "sim/scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diags diags;
    struct strbuf out = STRBUF_INIT;
    diags_init(&diags, "fuzz.yaml");
    struct scenario *scenario = scenario_parse("fuzz.yaml", (const char *)data, size, &diags);
    if ((scenario != NULL) != (diags.count == 0))
        abort();
    diags_print(&diags, &out);
    strbuf_release(&out);
    scenario_free(scenario);
    diags_release(&diags);
    return 0;
}
