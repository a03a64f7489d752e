#include "sim/core/err.h"

#include "sim/core/base.h"

static const char *const names[] = {
#define X(name, text) #name,
    ERR_LIST(X)
#undef X
};

static const char *const texts[] = {
#define X(name, text) text,
    ERR_LIST(X)
#undef X
};

const char *err_name(enum err err)
{
    FP_ASSERT((size_t)err < FP_COUNT(names));
    return names[err];
}

const char *err_text(enum err err)
{
    FP_ASSERT((size_t)err < FP_COUNT(texts));
    return texts[err];
}
