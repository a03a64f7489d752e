/* A FIFO queue with message groups, after Amazon SQS. A model: no clock, no waiting, no
 * randomness.
 *
 * Every call gets the virtual time, which must never run backwards. Messages of a group are
 * delivered in the order they were sent, one at a time: while one is in flight (received, neither
 * deleted nor visible again), no later one of its group is delivered. README.md says what of the
 * real service is modelled and what is not. */
#ifndef FENCEPOST_QUEUE_H
#define FENCEPOST_QUEUE_H

#include "sim/rt.h"

#define QUEUE_MESSAGE_COUNT_MAX 8192
#define QUEUE_GROUP_COUNT_MAX 1024
/* Deliveries of one message. A receipt is the message's id times this, plus the delivery. */
#define QUEUE_DELIVERY_COUNT_MAX 1000000

#define QUEUE_DEDUP_WINDOW_NS (5 * NS_PER_MIN)

/* Within what the same body counts as a duplicate. */
enum queue_dedup {
    QUEUE_DEDUP_QUEUE, /* in the whole queue, whatever the group: the service's default */
    QUEUE_DEDUP_GROUP, /* in the same group: the service's "deduplication scope: message group" */
    QUEUE_DEDUP_OFF,
};

struct queue_config {
    int64_t visibility_ns;     /* how long a delivery is in flight; 10 minutes */
    int64_t delay_ns;          /* from a send until its message may be delivered; 0 */
    int64_t retention_ns;      /* from a send until its message is dropped; 4 days */
    int64_t dead_retention_ns; /* the same, in the dead-letter queue, from the move; 14 days */
    int max_receive_count;     /* deliveries before a message is moved away; 3; 0: never moved */
    enum queue_dedup dedup;    /* QUEUE_DEDUP_QUEUE */
};
struct queue_config queue_config_default(void);

enum queue_state {
    QUEUE_VISIBLE,   /* may be delivered, or waits behind one of its group */
    QUEUE_DELAYED,   /* not delivered yet, or held back: may not be delivered before its time */
    QUEUE_IN_FLIGHT, /* delivered; its receipt is valid */
};

/* A message as reports see it. Text belongs to the queue, valid until its next call. */
struct queue_view {
    int64_t id; /* 1, 2, ... in the order of sending; kept when it is moved or redriven */
    const char *group;
    const char *body;
    enum queue_state state;
    int64_t sent_ns;       /* or moved here, in the dead-letter queue */
    int64_t visible_at_ns; /* in the past when visible */
    int64_t expires_ns;    /* end of its retention */
    int64_t receipt;       /* of the delivery in flight; 0: none */
    int receive_count;     /* since it was sent or redriven */
};

/* What happens to a message without anybody asking for it. */
enum queue_loss {
    QUEUE_DEAD_LETTERED, /* moved to the dead-letter queue: received too often */
    QUEUE_EXPIRED,       /* dropped: its retention is over */
    QUEUE_DEAD_EXPIRED,  /* the same, in the dead-letter queue */
};
/* Called at the moment of the loss. Must not call the queue. */
typedef void queue_loss_hook(void *self, enum queue_loss loss, const struct queue_view *message);

struct queue;

/* A queue and its dead-letter queue. Caller frees with queue_free. */
struct queue *queue_new(const struct queue_config *config);
void queue_free(struct queue *queue); /* NULL is allowed */
/* Empty, as new, with this config; keeps the memory and the hook. */
void queue_reset(struct queue *queue, const struct queue_config *config);
/* One hook for both queues; NULL: none. */
void queue_on_loss(struct queue *queue, queue_loss_hook *hook, void *self);

struct queue_sent {
    int64_t id;     /* of the message, or of the one that it duplicates */
    bool duplicate; /* accepted, but not put into the queue */
};
/* Put a message at the end of its group. `group` must not be empty; both texts are copied and must
 * fit struct rt_message. `sent` may be NULL. A body accepted within the last five minutes is a
 * duplicate, even when its message was delivered and deleted; the window begins at the first
 * accepted send and is not prolonged by duplicates. ERR_INFRASTRUCTURE: one of the maxima above is
 * reached. */
enum err queue_send(struct queue *queue, int64_t now_ns, const char *group, const char *body,
                    struct queue_sent *sent);

/* How many groups have a message that may be delivered now. This is the beginning of a receive: a
 * message whose turn it is but that was received max_receive_count times is moved to the
 * dead-letter queue here, and the next of its group takes its place. */
int queue_available(struct queue *queue, int64_t now_ns);
/* Deliver the first message of the nth group of those available, ordered by how long ago their
 * first message was sent. ERR_QUEUE_EMPTY: fewer than n + 1 are available; *message is zeroed. */
enum err queue_receive_nth(struct queue *queue, int64_t now_ns, int n, struct rt_message *message);
/* The next time, after now, at which some message may become available though nobody calls; -1 when
 * there is none. What is available already does not count. For long polling. */
int64_t queue_next_change_ns(struct queue *queue, int64_t now_ns);

/* ERR_QUEUE_STALE_RECEIPT: the visibility of that delivery has run out, or there was a later
 * delivery, or the message is in the dead-letter queue. Deleting what is gone already is ERR_OK. */
enum err queue_delete(struct queue *queue, int64_t now_ns, int64_t receipt);
/* In flight until now + visible_in_ns; 0: visible at once, and the receipt is no longer valid.
 * ERR_QUEUE_STALE_RECEIPT: as queue_delete, and also when the message is gone. */
enum err queue_change_visibility(struct queue *queue, int64_t now_ns, int64_t receipt,
                                 int64_t visible_in_ns);

/* ---- what faults use: true when it took effect ---- */

/* The delivery's visibility runs out now. False: it is not in flight. */
bool queue_expire_visibility(struct queue *queue, int64_t now_ns, int64_t receipt);
/* The message in flight may be received once more, as if it were visible; the new delivery makes
 * the old receipt stale and counts, but never moves the message away. False: it is not in flight,
 * or it was duplicated and not yet received again. */
bool queue_duplicate(struct queue *queue, int64_t now_ns, int64_t receipt);
/* The message is not delivered before now + delay_ns, and with it none that follows in its group.
 * It never comes earlier by this. False: there is no such message, or it is in flight. */
bool queue_delay_message(struct queue *queue, int64_t now_ns, int64_t id, int64_t delay_ns);

/* ---- the dead-letter queue ---- */

/* A queue like any other, except that nothing can be sent to it and nothing is moved away from it.
 * Owned by `queue`. A dead-letter queue has none itself: NULL. */
struct queue *queue_dead(struct queue *queue);
/* Put a message of the dead-letter queue back to the end of its group, with a receive count of 0
 * and a retention that begins now. It is not checked for duplicates. False: it is not there, or in
 * flight. */
bool queue_redrive(struct queue *queue, int64_t now_ns, int64_t id);
/* The same for whoever has received it from the dead-letter queue, by that delivery's receipt.
 * ERR_QUEUE_STALE_RECEIPT: its visibility has run out, it was received again, or it is gone. */
enum err queue_redrive_delivery(struct queue *queue, int64_t now_ns, int64_t receipt);

/* ---- what reports use ---- */

struct queue_counts {
    int visible_count; /* including those that wait behind another of their group */
    int delayed_count;
    int in_flight_count;
    int dead_count; /* all of the dead-letter queue */
    /* Since the queue was new: */
    int64_t sent_count;
    int64_t duplicate_send_count;
    int64_t received_count;
    int64_t deleted_count;
    int64_t dead_lettered_count;
    int64_t expired_count;
};
void queue_count(struct queue *queue, int64_t now_ns, struct queue_counts *counts);
/* All messages, in the order in which they came into this queue. */
int queue_message_count(struct queue *queue, int64_t now_ns);
/* index < queue_message_count at the same time. */
void queue_message(struct queue *queue, int64_t now_ns, int index, struct queue_view *view);

const char *queue_state_name(enum queue_state state); /* "visible"; static */

#endif
