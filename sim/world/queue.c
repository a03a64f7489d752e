#include "sim/world/queue.h"

#include <stdlib.h>
#include <string.h>

#include "sim/world/common.h"

struct message {
    int64_t id;
    size_t group_index;
    int64_t sent_ns;
    int64_t visible_at_ns;
    int64_t expires_ns;
    int64_t delivery_count; /* over its whole life: the number of its last receipt */
    int receive_count;
    bool delivered;  /* visible_at_ns is the end of a delivery, not of a delay */
    bool duplicated; /* may be received once more although it is in flight */
    char body[RT_MESSAGE_SIZE_MAX];
};

struct group {
    char name[RT_GROUP_SIZE_MAX];
    int64_t scan; /* the last walk over the heads that has met this group */
};

/* An accepted send, remembered for the deduplication window. */
struct accepted {
    int64_t accepted_ns;
    int64_t id;
    size_t group_index;
    char body[RT_MESSAGE_SIZE_MAX];
};

struct queue {
    struct queue_config config;
    struct queue *dead; /* NULL: this is a dead-letter queue */

    struct message *messages; /* in the order in which they came */
    size_t message_count, message_capacity;
    struct group *groups; /* in the order of their first message; never removed before a reset */
    size_t group_count, group_capacity;
    struct accepted *accepted; /* ordered by time */
    size_t accepted_count, accepted_capacity;

    int64_t now_ns;         /* of the last call */
    int64_t next_expiry_ns; /* no message expires before that */
    int64_t last_id;
    int64_t scan;
    struct queue_counts totals; /* only the part "since the queue was new" */

    queue_loss_hook *hook;
    void *hook_self;
};

struct queue_config queue_config_default(void)
{
    return (struct queue_config){
        .visibility_ns = 10 * NS_PER_MIN,
        .delay_ns = 0,
        .retention_ns = 4 * NS_PER_DAY,
        .dead_retention_ns = 14 * NS_PER_DAY,
        .max_receive_count = 3,
        .dedup = QUEUE_DEDUP_QUEUE,
    };
}

static struct queue_config dead_config(const struct queue_config *config)
{
    struct queue_config dead = *config;

    dead.retention_ns = config->dead_retention_ns;
    dead.delay_ns = 0;
    dead.max_receive_count = 0;
    return dead;
}

static void reset_one(struct queue *queue, const struct queue_config *config)
{
    FP_ASSERT(config->visibility_ns >= 0);
    FP_ASSERT(config->delay_ns >= 0);
    FP_ASSERT(config->retention_ns > 0);
    FP_ASSERT(config->max_receive_count >= 0);
    queue->config = *config;
    queue->message_count = 0;
    queue->group_count = 0;
    queue->accepted_count = 0;
    queue->now_ns = 0;
    queue->next_expiry_ns = INT64_MAX;
    queue->last_id = 0;
    queue->scan = 0;
    memset(&queue->totals, 0, sizeof(queue->totals));
}

struct queue *queue_new(const struct queue_config *config)
{
    struct queue *queue = fp_alloc(sizeof(*queue));

    queue->dead = fp_alloc(sizeof(*queue->dead));
    queue_reset(queue, config);
    return queue;
}

static void free_one(struct queue *queue)
{
    free(queue->messages);
    free(queue->groups);
    free(queue->accepted);
    free(queue);
}

void queue_free(struct queue *queue)
{
    if (!queue)
        return;
    FP_ASSERT(queue->dead != NULL);
    free_one(queue->dead);
    free_one(queue);
}

void queue_reset(struct queue *queue, const struct queue_config *config)
{
    struct queue_config dead = dead_config(config);

    FP_ASSERT(queue->dead != NULL);
    reset_one(queue, config);
    reset_one(queue->dead, &dead);
}

void queue_on_loss(struct queue *queue, queue_loss_hook *hook, void *self)
{
    FP_ASSERT(queue->dead != NULL);
    queue->hook = hook;
    queue->hook_self = self;
    queue->dead->hook = hook;
    queue->dead->hook_self = self;
}

struct queue *queue_dead(struct queue *queue)
{
    return queue->dead;
}

static bool is_visible(const struct message *message, int64_t now_ns)
{
    return now_ns >= message->visible_at_ns;
}

static bool is_in_flight(const struct message *message, int64_t now_ns)
{
    return message->delivered && !is_visible(message, now_ns);
}

static int64_t receipt_of(const struct message *message)
{
    return message->id * QUEUE_DELIVERY_COUNT_MAX + message->delivery_count;
}

static enum queue_state state_of(const struct message *message, int64_t now_ns)
{
    if (is_visible(message, now_ns))
        return QUEUE_VISIBLE;
    return message->delivered ? QUEUE_IN_FLIGHT : QUEUE_DELAYED;
}

static void fill_view(const struct queue *queue, const struct message *message,
                      struct queue_view *view)
{
    bool in_flight = is_in_flight(message, queue->now_ns);

    *view = (struct queue_view){
        .id = message->id,
        .group = queue->groups[message->group_index].name,
        .body = message->body,
        .state = state_of(message, queue->now_ns),
        .sent_ns = message->sent_ns,
        .visible_at_ns = message->visible_at_ns,
        .expires_ns = message->expires_ns,
        .receipt = in_flight ? receipt_of(message) : 0,
        .receive_count = message->receive_count,
    };
}

static void report_loss(const struct queue *queue, const struct message *message,
                        enum queue_loss loss)
{
    struct queue_view view;

    if (!queue->hook)
        return;
    fill_view(queue, message, &view);
    queue->hook(queue->hook_self, loss, &view);
}

static void remove_at(struct queue *queue, size_t index)
{
    struct message *gone = &queue->messages[index];

    FP_ASSERT(index < queue->message_count);
    queue->message_count--;
    memmove(gone, gone + 1, (queue->message_count - index) * sizeof(*gone));
}

static void drop_expired(struct queue *queue)
{
    enum queue_loss loss = queue->dead ? QUEUE_EXPIRED : QUEUE_DEAD_EXPIRED;
    size_t index = 0;

    queue->next_expiry_ns = INT64_MAX;
    while (index < queue->message_count) {
        const struct message *message = &queue->messages[index];

        if (message->expires_ns <= queue->now_ns) {
            queue->totals.expired_count++;
            report_loss(queue, message, loss);
            remove_at(queue, index);
            continue;
        }
        if (message->expires_ns < queue->next_expiry_ns)
            queue->next_expiry_ns = message->expires_ns;
        index++;
    }
}

/* Every call passes here first: what time alone has changed, happens now. */
static void enter(struct queue *queue, int64_t now_ns)
{
    FP_ASSERT(now_ns >= queue->now_ns);
    queue->now_ns = now_ns;
    if (now_ns >= queue->next_expiry_ns)
        drop_expired(queue);
}

static struct message *find(struct queue *queue, int64_t id)
{
    for (size_t index = 0; index < queue->message_count; index++)
        if (queue->messages[index].id == id)
            return &queue->messages[index];
    return NULL;
}

/* The message in flight by exactly this delivery, or NULL. */
static struct message *find_delivery(struct queue *queue, int64_t receipt)
{
    struct message *message = find(queue, receipt / QUEUE_DELIVERY_COUNT_MAX);

    if (!message || receipt_of(message) != receipt)
        return NULL;
    return is_in_flight(message, queue->now_ns) ? message : NULL;
}

/* Number of the group, made on first use. False: no room for another group. */
static bool find_group(struct queue *queue, const char *name, size_t *group_index)
{
    for (size_t index = 0; index < queue->group_count; index++) {
        if (strcmp(queue->groups[index].name, name) == 0) {
            *group_index = index;
            return true;
        }
    }
    if (queue->group_count >= QUEUE_GROUP_COUNT_MAX)
        return false;
    queue->groups = world_grow(queue->groups, queue->group_count, &queue->group_capacity,
                               sizeof(*queue->groups));
    *group_index = queue->group_count++;
    queue->groups[*group_index].scan = 0;
    world_copy_text(queue->groups[*group_index].name, RT_GROUP_SIZE_MAX, name);
    return true;
}

/* A new last message, all fields but its id, body and counts filled. */
static struct message *append(struct queue *queue, size_t group_index)
{
    struct message *message;

    FP_ASSERT(group_index < queue->group_count);
    FP_ASSERT(queue->message_count < QUEUE_MESSAGE_COUNT_MAX);
    queue->messages = world_grow(queue->messages, queue->message_count, &queue->message_capacity,
                                 sizeof(*queue->messages));
    message = &queue->messages[queue->message_count++];
    memset(message, 0, sizeof(*message));
    message->group_index = group_index;
    message->sent_ns = queue->now_ns;
    message->visible_at_ns = world_later_ns(queue->now_ns, queue->config.delay_ns);
    message->expires_ns = world_later_ns(queue->now_ns, queue->config.retention_ns);
    if (message->expires_ns < queue->next_expiry_ns)
        queue->next_expiry_ns = message->expires_ns;
    return message;
}

static void forget_old_sends(struct queue *queue)
{
    size_t old_count = 0;

    while (old_count < queue->accepted_count &&
           queue->accepted[old_count].accepted_ns + QUEUE_DEDUP_WINDOW_NS <= queue->now_ns)
        old_count++;
    if (old_count == 0)
        return;
    queue->accepted_count -= old_count;
    memmove(queue->accepted, queue->accepted + old_count,
            queue->accepted_count * sizeof(*queue->accepted));
}

static const struct accepted *find_accepted(const struct queue *queue, size_t group_index,
                                            const char *body)
{
    for (size_t index = 0; index < queue->accepted_count; index++) {
        const struct accepted *accepted = &queue->accepted[index];

        if (queue->config.dedup == QUEUE_DEDUP_GROUP && accepted->group_index != group_index)
            continue;
        if (strcmp(accepted->body, body) == 0)
            return accepted;
    }
    return NULL;
}

static void remember_send(struct queue *queue, const struct message *message)
{
    struct accepted *accepted;

    if (queue->config.dedup == QUEUE_DEDUP_OFF)
        return;
    queue->accepted = world_grow(queue->accepted, queue->accepted_count, &queue->accepted_capacity,
                                 sizeof(*queue->accepted));
    accepted = &queue->accepted[queue->accepted_count++];
    accepted->accepted_ns = queue->now_ns;
    accepted->id = message->id;
    accepted->group_index = message->group_index;
    memcpy(accepted->body, message->body, sizeof(accepted->body));
}

static int64_t put_new(struct queue *queue, size_t group_index, const char *body)
{
    struct message *message = append(queue, group_index);

    message->id = ++queue->last_id;
    world_copy_text(message->body, sizeof(message->body), body);
    remember_send(queue, message);
    return message->id;
}

/* Both queues count, so that a move from one to the other always finds room. */
static bool is_full(const struct queue *queue)
{
    return queue->message_count + queue->dead->message_count >= QUEUE_MESSAGE_COUNT_MAX ||
           queue->accepted_count >= QUEUE_MESSAGE_COUNT_MAX;
}

enum err queue_send(struct queue *queue, int64_t now_ns, const char *group, const char *body,
                    struct queue_sent *sent)
{
    struct queue_sent ignored;
    struct queue_sent *result = sent ? sent : &ignored;
    const struct accepted *earlier;
    size_t group_index;

    FP_ASSERT(queue->dead != NULL);
    FP_ASSERT(group[0] != '\0');
    *result = (struct queue_sent){0};
    enter(queue, now_ns);
    forget_old_sends(queue);
    if (!find_group(queue, group, &group_index))
        return ERR_INFRASTRUCTURE;
    earlier = find_accepted(queue, group_index, body);
    if (earlier) {
        queue->totals.duplicate_send_count++;
        *result = (struct queue_sent){.id = earlier->id, .duplicate = true};
        return ERR_OK;
    }
    if (is_full(queue))
        return ERR_INFRASTRUCTURE;
    queue->totals.sent_count++;
    result->id = put_new(queue, group_index, body);
    return ERR_OK;
}

/* A walk over the first message of every group, in the order of the queue. */
static void heads_begin(struct queue *queue)
{
    queue->scan++;
}

/* The next head at or after `from`; message_count when there is none. */
static size_t heads_next(struct queue *queue, size_t from)
{
    for (size_t index = from; index < queue->message_count; index++) {
        struct group *group = &queue->groups[queue->messages[index].group_index];

        if (group->scan != queue->scan) {
            group->scan = queue->scan;
            return index;
        }
    }
    return queue->message_count;
}

static bool is_exhausted(const struct queue *queue, const struct message *message)
{
    if (queue->config.max_receive_count == 0 || !is_visible(message, queue->now_ns))
        return false;
    return message->receive_count >= queue->config.max_receive_count;
}

/* Copy what a message keeps when it changes queues, at the end of its group there. */
static struct message *carry_over(struct queue *to, const struct queue *from,
                                  const struct message *message)
{
    struct message *copy;
    size_t group_index;
    bool found = find_group(to, from->groups[message->group_index].name, &group_index);

    FP_ASSERT(found);
    copy = append(to, group_index);
    copy->id = message->id;
    copy->delivery_count = message->delivery_count;
    copy->receive_count = message->receive_count;
    memcpy(copy->body, message->body, sizeof(copy->body));
    return copy;
}

static void bury(struct queue *queue, size_t index)
{
    struct message *message = &queue->messages[index];

    FP_ASSERT(queue->dead != NULL);
    enter(queue->dead, queue->now_ns);
    queue->totals.dead_lettered_count++;
    report_loss(queue, message, QUEUE_DEAD_LETTERED);
    carry_over(queue->dead, queue, message);
    remove_at(queue, index);
}

/* Only a head can be exhausted: what is behind one was not delivered since it came. So one walk is
 * enough, although every move brings another message to the front. */
static void bury_exhausted(struct queue *queue)
{
    size_t index;

    heads_begin(queue);
    index = heads_next(queue, 0);
    while (index < queue->message_count) {
        if (is_exhausted(queue, &queue->messages[index]))
            bury(queue, index);
        else
            index++;
        index = heads_next(queue, index);
    }
}

static bool is_deliverable(const struct queue *queue, const struct message *head)
{
    return is_visible(head, queue->now_ns) || head->duplicated;
}

/* The next deliverable head at or after `from`; message_count when there is none. */
static size_t deliverable_next(struct queue *queue, size_t from)
{
    size_t index = heads_next(queue, from);

    while (index < queue->message_count && !is_deliverable(queue, &queue->messages[index]))
        index = heads_next(queue, index + 1);
    return index;
}

int queue_available(struct queue *queue, int64_t now_ns)
{
    int count = 0;

    enter(queue, now_ns);
    bury_exhausted(queue);
    heads_begin(queue);
    for (size_t index = deliverable_next(queue, 0); index < queue->message_count;
         index = deliverable_next(queue, index + 1))
        count++;
    return count;
}

static void deliver(struct queue *queue, struct message *message, struct rt_message *out)
{
    FP_ASSERT(message->delivery_count + 1 < QUEUE_DELIVERY_COUNT_MAX);
    message->delivery_count++;
    message->receive_count++;
    message->delivered = true;
    message->duplicated = false;
    message->visible_at_ns = world_later_ns(queue->now_ns, queue->config.visibility_ns);
    queue->totals.received_count++;

    out->receipt = receipt_of(message);
    out->receive_count = message->receive_count;
    out->age_ns = queue->now_ns - message->sent_ns;
    world_copy_text(out->group, sizeof(out->group), queue->groups[message->group_index].name);
    memcpy(out->body, message->body, sizeof(out->body));
}

enum err queue_receive_nth(struct queue *queue, int64_t now_ns, int n, struct rt_message *message)
{
    size_t index;

    FP_ASSERT(n >= 0);
    memset(message, 0, sizeof(*message));
    enter(queue, now_ns);
    bury_exhausted(queue);
    heads_begin(queue);
    index = deliverable_next(queue, 0);
    for (int skipped = 0; skipped < n && index < queue->message_count; skipped++)
        index = deliverable_next(queue, index + 1);
    if (index >= queue->message_count)
        return ERR_QUEUE_EMPTY;
    deliver(queue, &queue->messages[index], message);
    return ERR_OK;
}

int64_t queue_next_change_ns(struct queue *queue, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;

    enter(queue, now_ns);
    heads_begin(queue);
    for (size_t index = heads_next(queue, 0); index < queue->message_count;
         index = heads_next(queue, index + 1)) {
        const struct message *head = &queue->messages[index];

        if (is_deliverable(queue, head))
            continue;
        if (head->visible_at_ns < next_ns)
            next_ns = head->visible_at_ns;
        /* When a head is dropped, the one behind it comes to the front. */
        if (head->expires_ns < next_ns)
            next_ns = head->expires_ns;
    }
    return next_ns == INT64_MAX ? -1 : next_ns;
}

/* Is the message of this receipt in no queue any more? */
static bool is_gone(struct queue *queue, int64_t receipt)
{
    int64_t id = receipt / QUEUE_DELIVERY_COUNT_MAX;

    if (find(queue, id))
        return false;
    if (!queue->dead)
        return true;
    enter(queue->dead, queue->now_ns);
    return !find(queue->dead, id);
}

enum err queue_delete(struct queue *queue, int64_t now_ns, int64_t receipt)
{
    struct message *message;

    FP_ASSERT(receipt > 0);
    enter(queue, now_ns);
    message = find_delivery(queue, receipt);
    if (message) {
        queue->totals.deleted_count++;
        remove_at(queue, (size_t)(message - queue->messages));
        return ERR_OK;
    }
    return is_gone(queue, receipt) ? ERR_OK : ERR_QUEUE_STALE_RECEIPT;
}

enum err queue_change_visibility(struct queue *queue, int64_t now_ns, int64_t receipt,
                                 int64_t visible_in_ns)
{
    struct message *message;

    FP_ASSERT(receipt > 0);
    enter(queue, now_ns);
    message = find_delivery(queue, receipt);
    if (!message)
        return ERR_QUEUE_STALE_RECEIPT;
    message->visible_at_ns = world_later_ns(now_ns, visible_in_ns);
    return ERR_OK;
}

bool queue_expire_visibility(struct queue *queue, int64_t now_ns, int64_t receipt)
{
    return queue_change_visibility(queue, now_ns, receipt, 0) == ERR_OK;
}

bool queue_duplicate(struct queue *queue, int64_t now_ns, int64_t receipt)
{
    struct message *message;

    FP_ASSERT(receipt > 0);
    enter(queue, now_ns);
    message = find_delivery(queue, receipt);
    if (!message || message->duplicated)
        return false;
    message->duplicated = true;
    return true;
}

bool queue_delay_message(struct queue *queue, int64_t now_ns, int64_t id, int64_t delay_ns)
{
    int64_t until_ns = world_later_ns(now_ns, delay_ns);
    struct message *message;

    enter(queue, now_ns);
    message = find(queue, id);
    if (!message || is_in_flight(message, now_ns))
        return false;
    /* What now holds it back is a delay: an earlier delivery of it is over for good. */
    message->delivered = false;
    message->duplicated = false;
    if (until_ns > message->visible_at_ns)
        message->visible_at_ns = until_ns;
    return true;
}

static void put_back(struct queue *queue, struct message *message)
{
    carry_over(queue, queue->dead, message)->receive_count = 0;
    remove_at(queue->dead, (size_t)(message - queue->dead->messages));
}

bool queue_redrive(struct queue *queue, int64_t now_ns, int64_t id)
{
    struct message *message;

    FP_ASSERT(queue->dead != NULL);
    enter(queue, now_ns);
    enter(queue->dead, now_ns);
    message = find(queue->dead, id);
    if (!message || is_in_flight(message, now_ns))
        return false;
    put_back(queue, message);
    return true;
}

enum err queue_redrive_delivery(struct queue *queue, int64_t now_ns, int64_t receipt)
{
    struct message *message;

    FP_ASSERT(queue->dead != NULL);
    FP_ASSERT(receipt > 0);
    enter(queue, now_ns);
    enter(queue->dead, now_ns);
    message = find_delivery(queue->dead, receipt);
    if (!message)
        return ERR_QUEUE_STALE_RECEIPT;
    put_back(queue, message);
    return ERR_OK;
}

static void count_states(const struct queue *queue, struct queue_counts *counts)
{
    for (size_t index = 0; index < queue->message_count; index++) {
        switch (state_of(&queue->messages[index], queue->now_ns)) {
        case QUEUE_VISIBLE:
            counts->visible_count++;
            break;
        case QUEUE_DELAYED:
            counts->delayed_count++;
            break;
        case QUEUE_IN_FLIGHT:
            counts->in_flight_count++;
            break;
        }
    }
}

void queue_count(struct queue *queue, int64_t now_ns, struct queue_counts *counts)
{
    enter(queue, now_ns);
    *counts = queue->totals;
    count_states(queue, counts);
    if (queue->dead)
        counts->dead_count = queue_message_count(queue->dead, now_ns);
}

int queue_message_count(struct queue *queue, int64_t now_ns)
{
    enter(queue, now_ns);
    return (int)queue->message_count;
}

void queue_message(struct queue *queue, int64_t now_ns, int index, struct queue_view *view)
{
    enter(queue, now_ns);
    FP_ASSERT(index >= 0);
    FP_ASSERT((size_t)index < queue->message_count);
    fill_view(queue, &queue->messages[index], view);
}

const char *queue_state_name(enum queue_state state)
{
    switch (state) {
    case QUEUE_VISIBLE:
        return "visible";
    case QUEUE_DELAYED:
        return "delayed";
    case QUEUE_IN_FLIGHT:
        return "in flight";
    }
    FP_ASSERT(!"known state");
    return "";
}
