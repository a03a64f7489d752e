/* From tokens to tables, indexes and UPDATEs. Nothing is rejected: what is not known is passed
 * over. */
#include "sim/lint/reading.h"

void read_bodies(struct reading *reading)
{
    for (; !reading_is_over(reading); reading_next(reading)) {
        if (reading->at->kind != TOKEN_BODY)
            continue;
        struct source *source = arena_alloc(reading->schema->arena, sizeof *source);
        *source = (struct source){.next = reading->waiting,
                                  .text = reading->at->text,
                                  .line = reading->at->line,
                                  .column = reading->at->column};
        reading->waiting = source;
    }
}

static void read_statement(struct reading *reading)
{
    const struct token *where = reading->at;

    if (reading_take_word(reading, "create"))
        read_create(reading, where);
    else if (reading_take_word(reading, "alter") && reading_take_word(reading, "table"))
        read_alter_table(reading);
    else if (reading_take_word(reading, "drop"))
        read_drop(reading);
    else if (reading_take_word(reading, "do"))
        read_bodies(reading);
    else
        read_updates(reading);
    reading_skip_statement(reading);
}

static void note_trouble(struct reading *reading, const struct token *end)
{
    struct lint_trouble *trouble = arena_alloc(reading->schema->arena, sizeof *trouble);

    *trouble = (struct lint_trouble){
        .next = reading->schema->troubles, .what = end->text, .place = reading_place(reading, end)};
    reading->schema->troubles = trouble;
}

void lint_read(struct lint_schema *schema, const char *file, const char *object, const char *text)
{
    struct source first = {.text = text, .line = 1, .column = 1};
    struct reading reading = {.schema = schema, .file = file, .object = object, .waiting = &first};

    FP_ASSERT((file == NULL) != (object == NULL));
    while (reading.waiting != NULL) {
        const struct source *source = reading.waiting;
        reading.waiting = source->next;
        reading.at = tokens_of(schema->arena, source->text, source->line, source->column);
        while (reading.at->kind != TOKEN_END)
            read_statement(&reading);
        if (reading.at->text[0] != '\0')
            note_trouble(&reading, reading.at);
    }
}
