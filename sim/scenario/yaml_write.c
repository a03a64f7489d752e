#include "sim/scenario/yaml_write.h"

#include <ctype.h>
#include <string.h>

#define LINE_SIZE_MAX 100
#define INDENT 2

/* ---- scalars ---- */

/* Characters that mean nothing in YAML, wherever they stand. */
static bool is_harmless(char c)
{
    return isalnum((unsigned char)c) || strchr("_./()+=;%", c) != NULL || (c & 0x80) != 0;
}

/* A text that needs no quotes, in a list on one line either. */
static bool is_plain(const char *text)
{
    size_t size = strlen(text);
    if (size == 0 || !is_harmless(text[0]) || text[size - 1] == ' ')
        return false;
    for (size_t i = 0; i < size; i++)
        if (!is_harmless(text[i]) && text[i] != ' ' && text[i] != '-')
            return false;
    return true;
}

static void put_quoted(struct strbuf *out, const char *text)
{
    strbuf_putc(out, '"');
    for (; *text != '\0'; text++)
        if (*text == '"' || *text == '\\')
            strbuf_printf(out, "\\%c", *text);
        else if (*text == '\n')
            strbuf_puts(out, "\\n");
        else if (*text == '\t')
            strbuf_puts(out, "\\t");
        else
            strbuf_putc(out, *text);
    strbuf_putc(out, '"');
}

static void put_scalar(struct strbuf *out, const struct yaml_node *node)
{
    if (node->kind != YAML_SCALAR)
        strbuf_puts(out, "null");
    else if (node->quoted || !is_plain(node->text))
        put_quoted(out, node->text);
    else
        strbuf_puts(out, node->text);
}

/* ---- on one line ---- */

static bool is_collection(const struct yaml_node *node)
{
    return node->kind == YAML_LIST || node->kind == YAML_MAP;
}

/* Where the writer stands in a collection. */
struct place {
    const struct yaml_node *node;
    const struct yaml_entry *next;
};

static void put_open(struct strbuf *out, struct place *place, const struct yaml_node *node)
{
    *place = (struct place){node, node->first};
    strbuf_putc(out, node->kind == YAML_MAP ? '{' : '[');
}

static void put_flow(struct strbuf *out, const struct yaml_node *root)
{
    struct place places[YAML_DEPTH_MAX + 1];
    int depth = 0;
    if (!is_collection(root)) {
        put_scalar(out, root);
        return;
    }
    put_open(out, &places[0], root);
    while (depth >= 0) {
        struct place *place = &places[depth];
        const struct yaml_entry *entry = place->next;
        if (entry == NULL) {
            strbuf_putc(out, place->node->kind == YAML_MAP ? '}' : ']');
            depth--;
            continue;
        }
        if (entry != place->node->first)
            strbuf_puts(out, ", ");
        if (entry->key != NULL) {
            put_scalar(out, entry->key);
            strbuf_puts(out, ": ");
        }
        place->next = entry->next;
        if (is_collection(entry->value)) {
            FP_ASSERT(depth < YAML_DEPTH_MAX);
            put_open(out, &places[++depth], entry->value);
        } else {
            put_scalar(out, entry->value);
        }
    }
}

/* ---- on several ---- */

static void put_indent(struct strbuf *out, int depth)
{
    for (int i = 0; i < depth * INDENT; i++)
        strbuf_putc(out, ' ');
}

/* Write the entry's value behind its key if there is room. */
static bool put_on_line(struct strbuf *out, const struct yaml_node *value, size_t line_start)
{
    struct strbuf text = STRBUF_INIT;
    put_flow(&text, value);
    bool fits = !is_collection(value) || value->count == 0 ||
                out->size - line_start + 1 + text.size <= LINE_SIZE_MAX;
    if (fits)
        strbuf_printf(out, " %s", strbuf_str(&text));
    strbuf_release(&text);
    return fits;
}

void yaml_write(const struct yaml_node *root, struct strbuf *out)
{
    struct place places[YAML_DEPTH_MAX + 1];
    int depth = 0;
    FP_ASSERT(root->kind == YAML_MAP);
    places[0] = (struct place){root, root->first};
    while (depth >= 0) {
        struct place *place = &places[depth];
        const struct yaml_entry *entry = place->next;
        if (entry == NULL) {
            depth--;
            continue;
        }
        place->next = entry->next;
        size_t line_start = out->size;
        put_indent(out, depth);
        if (entry->key != NULL) {
            put_scalar(out, entry->key);
            strbuf_putc(out, ':');
        } else {
            strbuf_putc(out, '-');
        }
        bool fits = put_on_line(out, entry->value, line_start);
        strbuf_putc(out, '\n');
        if (!fits) {
            FP_ASSERT(depth < YAML_DEPTH_MAX);
            places[++depth] = (struct place){entry->value, entry->value->first};
        }
    }
}
