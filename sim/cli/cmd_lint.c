#include <stdio.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/output.h"
#include "sim/core/json_out.h"
#include "sim/lint/lint.h"
#include "sim/pg/catalogue.h"

#define FILE_SIZE_MAX (16 << 20)

struct lint_config {
    bool json;
};

static const struct option lint_options[] = {
    {.name = "json",
     .type = OPTION_FLAG,
     .offset = offsetof(struct lint_config, json),
     .about = "one JSON object on standard output"},
};

extern const struct command command_lint;

/* ---- what is given ---- */

/* False: it cannot be read, or is too long. */
static bool read_text(FILE *file, struct strbuf *text)
{
    static char piece[1 << 16];
    size_t size;

    while (text->size <= FILE_SIZE_MAX && (size = fread(piece, 1, sizeof piece, file)) > 0)
        strbuf_add(text, piece, size);
    return ferror(file) == 0 && text->size <= FILE_SIZE_MAX;
}

static int read_file(struct lint_schema *schema, const char *path)
{
    struct strbuf text = STRBUF_INIT;
    int code = EXIT_PASS;
    FILE *file = fopen(path, "rbe");

    if (file == NULL)
        return command_usage(&command_lint, "%s: %m", path);
    if (!read_text(file, &text))
        code = command_usage(&command_lint, "%s: cannot be read, or is too large", path);
    else if (strlen(strbuf_str(&text)) != text.size)
        code = command_usage(&command_lint, "%s: is not text", path);
    else
        lint_read(schema, path, NULL, strbuf_str(&text));
    fclose(file);
    strbuf_release(&text);
    return code;
}

static void take_object(void *self, const char *object, const char *sql)
{
    struct lint_schema *schema = self;

    lint_read(schema, NULL, arena_strdup(schema->arena, object), sql);
}

static int read_database(struct lint_schema *schema, const char *dsn)
{
    struct strbuf why = STRBUF_INIT;
    int code = EXIT_PASS;

    if (!pg_catalogue_check(dsn, &why)) {
        code = command_usage(&command_lint, "not a connection string: %s", strbuf_str(&why));
    } else if (pg_catalogue_read(dsn, take_object, schema, &why) != ERR_OK) {
        fprintf(stderr, "fencepost: %s\n", strbuf_str(&why));
        code = EXIT_INFRASTRUCTURE;
    }
    strbuf_release(&why);
    return code;
}

static int read_all(struct lint_schema *schema, const struct args *args)
{
    for (size_t i = 0; i < args->operand_count; i++) {
        bool is_dsn = pg_catalogue_is_dsn(args->operands[i]);
        int code = is_dsn ? read_database(schema, args->operands[i])
                          : read_file(schema, args->operands[i]);
        if (code != EXIT_PASS)
            return code;
    }
    return EXIT_PASS;
}

/* ---- what is said ---- */

static size_t table_count(const struct lint_schema *schema)
{
    size_t count = 0;

    for (const struct lint_table *table = schema->tables; table != NULL; table = table->next)
        count++;
    return count;
}

static void put_text(struct strbuf *out, const struct lint_schema *schema,
                     const struct lint_report *report)
{
    for (const struct lint_finding *at = report->findings; at != NULL; at = at->next)
        lint_put_finding(out, at);
    if (!report->has_statements)
        strbuf_puts(out, "note: no UPDATE was given, so nothing is said about statements; give the "
                         "files that have them as well\n");
    size_t tables = table_count(schema);
    strbuf_printf(out, "%zu finding%s in %zu table%s\n", report->finding_count,
                  report->finding_count == 1 ? "" : "s", tables, tables == 1 ? "" : "s");
}

static void put_finding_json(struct json_out *out, const struct lint_finding *finding)
{
    const struct lint_place *place = &finding->place;

    json_object_begin(out);
    json_put_string(out, "rule", finding->rule);
    if (place->file != NULL) {
        json_put_string(out, "file", place->file);
        json_put_int(out, "line", place->line);
        json_put_int(out, "column", place->column);
    } else {
        json_put_string(out, "object", place->object);
    }
    json_put_string(out, "message", finding->what);
    json_put_string(out, "fix", finding->fix);
    json_object_end(out);
}

static void put_json(struct strbuf *text, const struct lint_schema *schema,
                     const struct lint_report *report)
{
    struct json_out out;

    json_out_init(&out, text);
    json_object_begin(&out);
    json_put_int(&out, "tables", (int64_t)table_count(schema));
    json_key(&out, "findings");
    json_array_begin(&out);
    for (const struct lint_finding *at = report->findings; at != NULL; at = at->next)
        put_finding_json(&out, at);
    json_array_end(&out);
    json_key(&out, "not_judged");
    json_array_begin(&out);
    for (const char *const *rule = lint_statement_rules; !report->has_statements && *rule; rule++)
        json_string(&out, *rule);
    json_array_end(&out);
    json_object_end(&out);
    json_out_finish(&out);
    strbuf_putc(text, '\n');
}

static int lint_run(const struct args *args, const void *config)
{
    const struct lint_config *lint = config;
    struct lint_schema *schema = lint_schema_new();
    struct strbuf text = STRBUF_INIT;
    int code = read_all(schema, args);

    if (code == EXIT_PASS) {
        struct lint_report report = lint_judge(schema);
        (lint->json ? put_json : put_text)(&text, schema, &report);
        output_text(&text);
        code = report.finding_count > 0 ? EXIT_VIOLATION : EXIT_PASS;
    }
    strbuf_release(&text);
    lint_schema_free(schema);
    return code;
}

const struct command command_lint = {
    .name = "lint",
    .about = "the checklist of the concurrency standards, for SQL files or a database",
    .notes =
        "Files are read one after the other, as migrations are: tables, indexes, constraints, "
        "triggers, and\nthe UPDATEs of statements and functions. Of a database the catalogue is "
        "read; statements of the\napplication can be given in files beside it. The rules are in "
        "sim/lint/README.md.\n\n"
        "Exit codes: 0 nothing found, 1 findings, 3 the database does not answer, 64 usage.\n",
    .operands = {"FILE.sql|DSN", 1, SIZE_MAX, "SQL files, or a connection string of a database"},
    .options = lint_options,
    .option_count = FP_COUNT(lint_options),
    .config_size = sizeof(struct lint_config),
    .run = lint_run,
};
