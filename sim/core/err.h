/* Operating errors: what a call of the seam, or of the harness's own environment, may answer.
 * A scenario's mistakes are diagnostics, a violation is data, a programmer's error is an assert. */
#ifndef FENCEPOST_ERR_H
#define FENCEPOST_ERR_H

#define ERR_LIST(X)                                                                                \
    X(ERR_OK, "ok")                                                                                \
    X(ERR_DB_SQL, "the server refused the statement (see its SQLSTATE)")                           \
    X(ERR_DB_LOST, "the connection is lost, the outcome of the statement is unknown")              \
    X(ERR_DB_UNREACHABLE, "no connection could be made")                                           \
    X(ERR_TIMEOUT, "no answer within the caller's own time limit")                                 \
    X(ERR_QUEUE_EMPTY, "no message within the wait")                                               \
    X(ERR_QUEUE_STALE_RECEIPT, "the message was delivered again, this receipt is no longer valid") \
    X(ERR_CLOUD_THROTTLED, "the cloud answers 429, try again later")                               \
    X(ERR_CLOUD_TIMEOUT, "the cloud did not answer, the outcome is unknown")                       \
    X(ERR_CLOUD_QUOTA, "the cloud's quota is exhausted")                                           \
    X(ERR_CLOUD_CREDENTIALS, "the cloud refuses the credentials")                                  \
    X(ERR_CLOUD_EXISTS, "a resource of this name exists already")                                  \
    X(ERR_CLOUD_ABSENT, "there is no such resource")                                               \
    X(ERR_FENCED, "refused: the fencing token is older than one already seen")                     \
    X(ERR_STORE_UNAVAILABLE, "the artifact store did not answer")                                  \
    X(ERR_STORE_ABSENT, "there is no such object")                                                 \
    X(ERR_SERVICE_THROTTLED, "the service answers 429, try again later")                           \
    X(ERR_SERVICE_TIMEOUT, "the service did not answer, the outcome is unknown")                   \
    X(ERR_SERVICE_REJECTED, "the service refuses it for good")                                     \
    X(ERR_REQUEST_LOST, "the process that had accepted the request has died")                      \
    X(ERR_INFRASTRUCTURE, "the harness's own environment failed")

enum err {
#define X(name, text) name,
    ERR_LIST(X)
#undef X
};

/* "ERR_DB_LOST"; static. */
const char *err_name(enum err err);
/* One sentence; static. */
const char *err_text(enum err err);

#endif
