#include "sim/scenario/yaml.h"

#include <libfyaml.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define LEAK_CHECKER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAK_CHECKER 1
#endif
#endif
#ifdef LEAK_CHECKER
#include <sanitizer/lsan_interface.h>
#define LEAKS_IGNORED_BEGIN() __lsan_disable()
#define LEAKS_IGNORED_END() __lsan_enable()
#else
#define LEAKS_IGNORED_BEGIN() ((void)0)
#define LEAKS_IGNORED_END() ((void)0)
#endif

#define DESCRIBE_SIZE_MAX 40

struct frame {
    struct yaml_node *node;
    struct yaml_node *key; /* waits for its value */
};

struct builder {
    struct arena *arena;
    struct diags *diags;
    const char *override;
    const char *source;
    size_t source_size;
    struct yaml_node *root;
    struct frame stack[YAML_DEPTH_MAX];
    size_t depth;
    size_t document_count;
    bool stopped; /* a mistake after which nothing that follows can be trusted */
};

/* ---- the tree ---- */

struct yaml_node *yaml_new(struct arena *arena, enum yaml_kind kind, const char *override)
{
    struct yaml_node *node = arena_alloc(arena, sizeof(*node));
    node->kind = kind;
    node->override = override;
    return node;
}

void yaml_append(struct arena *arena, struct yaml_node *parent, struct yaml_node *key,
                 struct yaml_node *value)
{
    FP_ASSERT(parent->kind == (key != NULL ? YAML_MAP : YAML_LIST));
    struct yaml_entry *entry = arena_alloc(arena, sizeof(*entry));
    entry->key = key;
    entry->value = value;
    if (parent->last != NULL)
        parent->last->next = entry;
    else
        parent->first = entry;
    parent->last = entry;
    parent->count++;
}

struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
    if (map == NULL || map->kind != YAML_MAP)
        return NULL;
    for (const struct yaml_entry *entry = map->first; entry != NULL; entry = entry->next)
        if (strcmp(entry->key->text, key) == 0)
            return entry->value;
    return NULL;
}

struct yaml_entry *yaml_item(const struct yaml_node *list, size_t index)
{
    FP_ASSERT(list->kind == YAML_LIST);
    struct yaml_entry *entry = list->first;
    for (size_t i = 0; i < index && entry != NULL; i++)
        entry = entry->next;
    return entry;
}

/* ---- messages ---- */

static void report(struct diags *diags, const char *override, int line, int column,
                   const char *format, va_list args)
{
    if (override == NULL) {
        diags_vadd(diags, line, column, format, args);
        return;
    }
    struct strbuf message = STRBUF_INIT;
    strbuf_printf(&message, "--set %s: ", override);
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    FP_ASSERT(size >= 0);
    strbuf_reserve(&message, (size_t)size + 1);
    vsnprintf(message.text + message.size, (size_t)size + 1, format, args);
    diags_add(diags, 0, 0, "%s", message.text);
    strbuf_release(&message);
}

void yaml_error(struct diags *diags, const struct yaml_node *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(diags, node->override, node->line, node->column, format, args);
    va_end(args);
}

static void builder_error(struct builder *builder, int line, int column, const char *format, ...)
    FP_PRINTF(4, 5);
static void builder_error(struct builder *builder, int line, int column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(builder->diags, builder->override, line, column, format, args);
    va_end(args);
}

/* At most DESCRIBE_SIZE_MAX bytes, cut between characters; line ends and tabs stay on one line. */
static void add_shown(struct strbuf *out, const char *text)
{
    size_t size = strlen(text);
    size_t shown = size;
    if (size > DESCRIBE_SIZE_MAX) {
        shown = DESCRIBE_SIZE_MAX;
        while (shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80)
            shown--;
    }
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n')
            strbuf_puts(out, "\\n");
        else if (c == '\t')
            strbuf_puts(out, "\\t");
        else if (c < 0x20 || c == 0x7f)
            strbuf_printf(out, "\\x%02x", c);
        else
            strbuf_putc(out, (char)c);
    }
    strbuf_puts(out, shown < size ? "..." : "");
}

const char *yaml_describe(struct arena *arena, const struct yaml_node *node)
{
    if (node->kind != YAML_SCALAR) {
        static const char *const names[] = {
            [YAML_NULL] = "nothing",
            [YAML_LIST] = "a list",
            [YAML_MAP] = "a mapping",
            [YAML_BAD] = "something that was refused",
        };
        return names[node->kind];
    }
    struct strbuf shown = STRBUF_INIT;
    strbuf_puts(&shown, node->quoted ? "the quoted text `" : "`");
    add_shown(&shown, node->text);
    strbuf_putc(&shown, '`');
    const char *kept = arena_strdup(arena, shown.text);
    strbuf_release(&shown);
    return kept;
}

/* ---- the text before it is parsed ---- */

/* The size of the valid sequence at `text`, or 0. Overlong forms, surrogates and what lies past
 * U+10FFFF are not valid. */
static size_t utf8_size(const unsigned char *text, size_t size)
{
    unsigned char lead = text[0];
    size_t want = lead < 0x80   ? 1
                  : lead < 0xc2 ? 0
                  : lead < 0xe0 ? 2
                  : lead < 0xf0 ? 3
                  : lead < 0xf5 ? 4
                                : 0;
    if (want == 0 || want > size)
        return 0;
    for (size_t i = 1; i < want; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool wrong = (lead == 0xe0 && text[1] < 0xa0) || (lead == 0xed && text[1] >= 0xa0) ||
                 (lead == 0xf0 && text[1] < 0x90) || (lead == 0xf4 && text[1] >= 0x90);
    return wrong ? 0 : want;
}

static bool is_control(unsigned char c)
{
    return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
}

size_t yaml_text_check(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t index = 0;
    while (index < size) {
        size_t step = utf8_size(bytes + index, size - index);
        if (step == 0 || is_control(bytes[index]))
            return index;
        index += step;
    }
    return size;
}

/* Line and column, 1-based and in characters, of a byte. */
static void place_of(const char *text, size_t index, int *line, int *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < index; i++) {
        if (text[i] == '\n') {
            *line += 1;
            *column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            *column += 1;
        }
    }
}

static bool text_is_fit(struct builder *builder)
{
    if (builder->source_size > YAML_SIZE_MAX) {
        builder_error(builder, 0, 0, "more than %zu bytes, which is the largest allowed",
                      YAML_SIZE_MAX);
        return false;
    }
    size_t bad = yaml_text_check(builder->source, builder->source_size);
    if (bad == builder->source_size)
        return true;
    int line, column;
    unsigned char byte = (unsigned char)builder->source[bad];
    place_of(builder->source, bad, &line, &column);
    builder_error(builder, line, column,
                  byte < 0x80 ? "the control character 0x%02x is not allowed"
                              : "the byte 0x%02x is not valid UTF-8",
                  byte);
    return false;
}

/* ---- events into nodes ---- */

static void place_at_token(struct builder *builder, struct yaml_node *node, struct fy_token *token)
{
    const struct fy_mark *mark = token != NULL ? fy_token_start_mark(token) : NULL;
    if (mark == NULL)
        return;
    node->line = mark->line + 1;
    node->column = mark->column + 1;
    /* libfyaml places a quoted scalar behind its quote. */
    size_t index = mark->input_pos;
    bool quoted = node->quoted && index > 0 && index <= builder->source_size &&
                  (builder->source[index - 1] == '"' || builder->source[index - 1] == '\'');
    if (quoted && node->column > 1)
        node->column--;
}

/* What has no token of its own (an empty value) is reported where its key or its list stands. */
static void place_at_parent(struct builder *builder, struct yaml_node *node)
{
    if (node->line != 0)
        return;
    node->line = 1;
    node->column = 1;
    if (builder->depth > 0) {
        const struct frame *top = &builder->stack[builder->depth - 1];
        const struct yaml_node *from = top->key != NULL ? top->key : top->node;
        node->line = from->line;
        node->column = from->column;
    }
}

static bool key_is_usable(struct builder *builder, struct yaml_node *map, struct yaml_node *key)
{
    if (key->kind == YAML_BAD)
        return false;
    if (key->kind != YAML_SCALAR) {
        yaml_error(builder->diags, key, "a key must be a word, found %s",
                   yaml_describe(builder->arena, key));
        return false;
    }
    if (strcmp(key->text, "<<") == 0 && !key->quoted) {
        yaml_error(builder->diags, key, "merge keys (<<) are not supported, write the keys out");
        return false;
    }
    for (const struct yaml_entry *entry = map->first; entry != NULL; entry = entry->next) {
        if (strcmp(entry->key->text, key->text) == 0) {
            yaml_error(builder->diags, key, "duplicate key %s, it stands in line %d already",
                       yaml_describe(builder->arena, key), entry->key->line);
            return false;
        }
    }
    return true;
}

static void attach_to_map(struct builder *builder, struct frame *frame, struct yaml_node *node)
{
    if (frame->key == NULL) {
        if (!key_is_usable(builder, frame->node, node)) {
            /* A collection keeps its kind: its own entries are still to come. */
            bool is_open = node->kind == YAML_MAP || node->kind == YAML_LIST;
            node->kind = is_open ? node->kind : YAML_BAD;
        }
        frame->key = node;
        return;
    }
    if (frame->key->kind == YAML_SCALAR)
        yaml_append(builder->arena, frame->node, frame->key, node);
    frame->key = NULL;
}

static void stop_when_full(struct builder *builder, const struct yaml_node *parent)
{
    size_t count_max = parent->kind == YAML_MAP ? YAML_KEY_COUNT_MAX : YAML_ITEM_COUNT_MAX;
    if (parent->count <= count_max)
        return;
    yaml_error(builder->diags, parent, "%s has more than %zu entries",
               parent->kind == YAML_MAP ? "this mapping" : "this list", count_max);
    builder->stopped = true;
}

static void attach(struct builder *builder, struct yaml_node *node)
{
    place_at_parent(builder, node);
    if (builder->depth == 0) {
        FP_ASSERT(builder->root == NULL);
        builder->root = node;
        return;
    }
    struct frame *top = &builder->stack[builder->depth - 1];
    if (top->node->kind == YAML_MAP)
        attach_to_map(builder, top, node);
    else
        yaml_append(builder->arena, top->node, NULL, node);
    stop_when_full(builder, top->node);
}

static void refuse_decoration(struct builder *builder, struct fy_token *token, const char *what)
{
    struct yaml_node at = {.override = builder->override};
    if (token == NULL)
        return;
    place_at_token(builder, &at, token);
    yaml_error(builder->diags, &at, "%s are not supported, write the plain value", what);
}

static void push(struct builder *builder, struct yaml_node *node)
{
    if (builder->depth == YAML_DEPTH_MAX) {
        yaml_error(builder->diags, node, "nested deeper than %d levels", YAML_DEPTH_MAX);
        builder->stopped = true;
        return;
    }
    builder->stack[builder->depth++] = (struct frame){.node = node};
}

static void on_collection(struct builder *builder, enum yaml_kind kind, struct fy_token *start,
                          struct fy_token *anchor, struct fy_token *tag)
{
    struct yaml_node *node = yaml_new(builder->arena, kind, builder->override);
    refuse_decoration(builder, anchor, "anchors (&)");
    refuse_decoration(builder, tag, "tags (!)");
    place_at_token(builder, node, start);
    attach(builder, node);
    push(builder, node);
}

static bool is_null_word(const char *text)
{
    return text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ||
           strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0;
}

/* fy_token_get_text of libfyaml 0.7.12 loses a small buffer for a quoted scalar with many escapes
 * in one line, and its iterators repeat doubled quotes. The text matters and the buffer does not:
 * the leak checker is told to look away for this one call. */
static const char *token_text(struct fy_token *token, size_t *size)
{
    LEAKS_IGNORED_BEGIN();
    const char *text = fy_token_get_text(token, size);
    LEAKS_IGNORED_END();
    return text;
}

/* Escapes in a quoted scalar can make what the source itself may not hold. */
static void set_text(struct builder *builder, struct yaml_node *node, struct fy_token *token)
{
    size_t size = 0;
    const char *text = token != NULL ? token_text(token, &size) : NULL;
    if (text == NULL)
        return;
    if (yaml_text_check(text, size) < size) {
        yaml_error(builder->diags, node,
                   "an escape in this text makes a character that is not allowed");
        node->kind = YAML_BAD;
        return;
    }
    char *copy = arena_alloc(builder->arena, size + 1);
    memcpy(copy, text, size);
    if (node->quoted || !is_null_word(copy)) {
        node->kind = YAML_SCALAR;
        node->text = copy;
    }
}

static void on_scalar(struct builder *builder, const struct fy_event *event)
{
    struct fy_token *token = event->scalar.value;
    struct yaml_node *node = yaml_new(builder->arena, YAML_NULL, builder->override);
    refuse_decoration(builder, event->scalar.anchor, "anchors (&)");
    refuse_decoration(builder, event->scalar.tag, "tags (!)");
    node->quoted = token != NULL && fy_token_scalar_style(token) != FYSS_PLAIN;
    place_at_token(builder, node, token);
    place_at_parent(builder, node);
    set_text(builder, node, token);
    attach(builder, node);
}

static void on_alias(struct builder *builder, const struct fy_event *event)
{
    struct yaml_node *node = yaml_new(builder->arena, YAML_BAD, builder->override);
    place_at_token(builder, node, event->alias.anchor);
    place_at_parent(builder, node);
    /* The token is the name behind the asterisk. */
    node->column -= node->column > 1 ? 1 : 0;
    yaml_error(builder->diags, node, "aliases (*) are not supported, write the value out");
    attach(builder, node);
}

static void on_document(struct builder *builder, const struct fy_event *event)
{
    if (++builder->document_count == 1)
        return;
    struct yaml_node at = {.override = builder->override, .line = 1, .column = 1};
    place_at_token(builder, &at, event->document_start.document_start);
    yaml_error(builder->diags, &at, "a second document begins here, a scenario file holds one");
    builder->stopped = true;
}

static void pop(struct builder *builder)
{
    FP_ASSERT(builder->depth > 0);
    builder->depth--;
}

static void on_event(struct builder *builder, const struct fy_event *event)
{
    switch (event->type) {
    case FYET_DOCUMENT_START:
        on_document(builder, event);
        break;
    case FYET_MAPPING_START:
        on_collection(builder, YAML_MAP, event->mapping_start.mapping_start,
                      event->mapping_start.anchor, event->mapping_start.tag);
        break;
    case FYET_SEQUENCE_START:
        on_collection(builder, YAML_LIST, event->sequence_start.sequence_start,
                      event->sequence_start.anchor, event->sequence_start.tag);
        break;
    case FYET_SCALAR:
        on_scalar(builder, event);
        break;
    case FYET_ALIAS:
        on_alias(builder, event);
        break;
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        pop(builder);
        break;
    default:
        break;
    }
}

/* ---- libfyaml ---- */

/* The commonest reason for a baffling syntax error. The parser says so itself when it points at the
 * same line. */
static void report_tabs(struct builder *builder)
{
    bool indenting = true;
    for (size_t i = 0; i < builder->source_size; i++) {
        char c = builder->source[i];
        if (indenting && c == '\t') {
            int line, column;
            place_of(builder->source, i, &line, &column);
            const struct diags *diags = builder->diags;
            for (size_t k = 0; k < diags->count; k++)
                if (diags->list[k].line == line)
                    return;
            builder_error(builder, line, column, "a tab in the indentation, YAML wants spaces");
            return;
        }
        indenting = c == '\n' || (indenting && c == ' ');
    }
}

static void report_syntax(struct builder *builder, struct fy_diag *diag)
{
    void *position = NULL;
    size_t count = 0;
    for (struct fy_diag_error *error = fy_diag_errors_iterate(diag, &position);
         error != NULL && count < DIAG_COUNT_MAX; error = fy_diag_errors_iterate(diag, &position)) {
        count++;
        builder_error(builder, error->line > 0 ? error->line : 0,
                      error->column > 0 ? error->column : 0, "not valid YAML: %s", error->msg);
    }
    if (count == 0)
        builder_error(builder, 0, 0, "not valid YAML");
    report_tabs(builder);
}

static void parse_events(struct builder *builder, struct fy_parser *parser, struct fy_diag *diag)
{
    while (!builder->stopped) {
        struct fy_event *event = fy_parser_parse(parser);
        if (event == NULL)
            break;
        on_event(builder, event);
        fy_parser_event_free(parser, event);
    }
    if (!builder->stopped && fy_parser_get_stream_error(parser)) {
        report_syntax(builder, diag);
        builder->stopped = true;
    }
}

static void parse_text(struct builder *builder)
{
    struct fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = NULL;
    diag_config.level = FYET_ERROR;
    struct fy_diag *diag = fy_diag_create(&diag_config);
    FP_ASSERT(diag != NULL);
    fy_diag_set_collect_errors(diag, true);

    struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_JSON_NONE, .diag = diag};
    struct fy_parser *parser = fy_parser_create(&config);
    FP_ASSERT(parser != NULL);
    FP_ASSERT(fy_parser_set_string(parser, builder->source, builder->source_size) == 0);
    parse_events(builder, parser, diag);
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
}

struct yaml_node *yaml_parse(struct arena *arena, const char *text, size_t size,
                             const char *override, struct diags *diags)
{
    struct builder builder = {
        .arena = arena,
        .diags = diags,
        .override = override,
        .source = text,
        .source_size = size,
    };
    if (!text_is_fit(&builder))
        return NULL;
    /* libfyaml takes a size of 0 for "up to the terminator", which need not be there. */
    if (size > 0)
        parse_text(&builder);
    if (builder.stopped)
        return NULL;
    if (builder.root != NULL)
        return builder.root;
    return yaml_new(arena, YAML_NULL, override);
}
