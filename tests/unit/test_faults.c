#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "faults/fault.h"

/* A host that remembers what it was asked for. */
struct fault_host {
    enum {
        NOTHING,
        CRASH,
        PAUSE,
        DROP,
        CLOUD,
        STORE,
        SERVICE,
        LOCKS,
        STEP_CLOCK,
        DRIFT_CLOCK,
        QUEUE,
        DELAY,
        PARTITION,
        LIMIT,
        TERMINATE,
        CANCEL,
        LAG,
        CRASH_SERVER,
        FAIL_OVER,
        CONTAINER
    } did;
    int64_t number; /* by how much, or which way */
    uint32_t draw;  /* what the next draw gives */
    enum cloud_error error;
    bool one;
    int64_t duration_ns;
    enum drop_how how;
    struct duration_range range;
};

void fault_crash(struct fault_host *host, int64_t restart_after_ns)
{
    host->did = CRASH;
    host->duration_ns = restart_after_ns;
}

void fault_pause(struct fault_host *host, int64_t duration_ns)
{
    host->did = PAUSE;
    host->duration_ns = duration_ns;
}

void fault_drop_connection(struct fault_host *host, enum drop_how how, enum fault_via via)
{
    (void)via;
    host->did = DROP;
    host->how = how;
}

void fault_fail_cloud(struct fault_host *host, enum cloud_error error)
{
    host->did = CLOUD;
    host->error = error;
}

void fault_fail_store(struct fault_host *host)
{
    host->did = STORE;
}

void fault_fail_service(struct fault_host *host, enum service_error error)
{
    host->did = SERVICE;
    host->number = error;
}

void fault_lose_locks(struct fault_host *host, bool one)
{
    host->did = LOCKS;
    host->one = one;
}

void fault_lag(struct fault_host *host, int64_t by_ns)
{
    host->did = LAG;
    host->number = by_ns;
}

void fault_crash_server(struct fault_host *host)
{
    host->did = CRASH_SERVER;
}

void fault_fail_over(struct fault_host *host)
{
    host->did = FAIL_OVER;
}

void fault_step_clock(struct fault_host *host, int64_t by_ns)
{
    host->did = STEP_CLOCK;
    host->number = by_ns;
}

void fault_drift_clock(struct fault_host *host, int64_t rate_ppm)
{
    host->did = DRIFT_CLOCK;
    host->number = rate_ppm;
}

void fault_disturb_queue(struct fault_host *host, enum queue_error error, int64_t delay_ns)
{
    host->did = QUEUE;
    host->number = (int64_t)error;
    host->duration_ns = delay_ns;
}

void fault_delay(struct fault_host *host, int64_t duration_ns)
{
    host->did = DELAY;
    host->duration_ns = duration_ns;
}

void fault_hit_container(struct fault_host *host, enum container_how how)
{
    host->did = CONTAINER;
    host->number = (int64_t)how;
}

void fault_partition(struct fault_host *host, enum partition_how how)
{
    host->did = PARTITION;
    host->number = (int64_t)how;
}

void fault_limit_connections(struct fault_host *host, int limit, int64_t wait_ns)
{
    host->did = LIMIT;
    host->number = limit;
    host->duration_ns = wait_ns;
}

void fault_terminate(struct fault_host *host)
{
    host->did = TERMINATE;
}

void fault_cancel(struct fault_host *host)
{
    host->did = CANCEL;
}

uint32_t fault_draw(struct fault_host *host, uint32_t n)
{
    assert_true(host->draw < n);
    return host->draw;
}

int64_t fault_draw_duration(struct fault_host *host, struct duration_range range)
{
    host->range = range;
    return range.high_ns;
}

static const struct field *field_find(const struct field *fields, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].key, key) == 0)
            return &fields[i];
    fail_msg("no field %s", key);
    return NULL;
}

static void *field_at(const struct fault_kind *kind, void *config, const char *key)
{
    return (char *)config + field_find(kind->fields, kind->field_count, key)->offset;
}

static const struct fault_kind *kind_of(const char *name)
{
    const struct fault_kind *kind = fault_kind_find(name);
    assert_non_null(kind);
    return kind;
}

static void strike(struct fault_host *host, const struct fault_kind *kind, const void *config,
                   enum fault_point point)
{
    struct fault_visit visit = {.point = point, .actor = "worker-1", .role = "worker"};
    kind->strike(host, config, &visit);
}

#define FAULT(name) +1
enum {
    KIND_COUNT = 0
#include "faults/faults.def"
};
#undef FAULT

static void test_faults_registry_finds_each_by_its_name(void **state)
{
    (void)state;
    size_t count = 0;
    for (; fault_kinds[count] != NULL; count++)
        assert_ptr_equal(fault_kind_find(fault_kinds[count]->name), fault_kinds[count]);
    assert_int_equal(count, KIND_COUNT);
    assert_null(fault_kind_find("crush"));
}

static bool is_common(const char *key)
{
    for (size_t i = 0; i < fault_common_field_count; i++)
        if (strcmp(fault_common_fields[i].key, key) == 0)
            return true;
    return false;
}

/* What the engine and the loader rely on, for every kind there will ever be. */
static void test_faults_every_kind_is_well_formed(void **state)
{
    (void)state;
    for (size_t i = 0; fault_kinds[i] != NULL; i++) {
        const struct fault_kind *kind = fault_kinds[i];
        assert_non_null(kind->about);
        assert_non_null(kind->strike);
        assert_true(kind->config_size >= sizeof(struct fault_common));
        assert_true(kind->points_default != 0);
        assert_int_equal(kind->points_default & ~kind->points, 0);
        assert_int_equal(kind->points >> FAULT_POINT_COUNT, 0);
        assert_memory_equal(kind->example, kind->name, strlen(kind->name));
        for (size_t f = 0; f < kind->field_count; f++) {
            bool stands_for_common =
                strcmp(kind->fields[f].key, "heal_after") == 0 || is_common(kind->fields[f].key);
            assert_true(kind->fields[f].offset >= sizeof(struct fault_common) || stands_for_common);
            assert_true(kind->fields[f].offset < kind->config_size);
            assert_non_null(kind->fields[f].about);
        }
    }
}

static void test_faults_common_fields_have_the_documented_defaults(void **state)
{
    (void)state;
    const struct field *fields = fault_common_fields;
    size_t count = fault_common_field_count;
    assert_string_equal(field_find(fields, count, "target")->fallback, "any");
    assert_string_equal(field_find(fields, count, "probability")->fallback, "0.05");
    assert_string_equal(field_find(fields, count, "times")->fallback, "1");
    assert_null(field_find(fields, count, "points")->fallback);
}

static void test_faults_points_have_names(void **state)
{
    (void)state;
    assert_string_equal(fault_point_name(POINT_DB_OPEN), "db.open");
    assert_string_equal(fault_point_name(POINT_WAKE), "wake");
    assert_string_equal(fault_point_about(POINT_DB_COMMIT), "before a COMMIT is sent");
}

static void test_faults_points_asked_for_win_over_the_default(void **state)
{
    (void)state;
    const struct fault_kind *kind = kind_of("crash");
    struct fault_common *common = calloc(1, kind->config_size);
    assert_int_equal(fault_points(kind, common), kind->points_default);
    common->points = POINT_BIT(POINT_SLEEP);
    assert_int_equal(fault_points(kind, common), POINT_BIT(POINT_SLEEP));
    free(common);
}

static bool wants(const char *operation, int transaction, const struct fault_visit *visit)
{
    struct fault_common common = {.operation = {&operation, operation != NULL},
                                  .transaction = transaction};
    return fault_wants(&common, visit);
}

static void test_faults_operation_is_that_of_the_visit(void **state)
{
    (void)state;
    struct fault_visit visit = {.point = POINT_DB_EXEC, .operation = "acquire_insert"};
    assert_true(wants(NULL, TRANSACTION_ANY, &visit));
    assert_true(wants("acquire_insert", TRANSACTION_ANY, &visit));
    assert_false(wants("acquire", TRANSACTION_ANY, &visit));
}

static void test_faults_commit_is_found_by_its_statements(void **state)
{
    (void)state;
    const char *const sent[] = {"begin", "acquire_insert"};
    struct fault_visit visit = {.point = POINT_DB_COMMITTED,
                                .operation = "commit",
                                .transaction = sent,
                                .transaction_size = FP_COUNT(sent)};
    assert_true(wants("acquire_insert", TRANSACTION_ANY, &visit));
    assert_true(wants("commit", TRANSACTION_ANY, &visit));
    assert_false(wants("release_cluster", TRANSACTION_ANY, &visit));
    visit.point = POINT_DB_DONE;
    assert_false(wants("acquire_insert", TRANSACTION_ANY, &visit));
}

static void test_faults_transaction_is_inside_or_outside(void **state)
{
    (void)state;
    const char *const sent[] = {"begin"};
    struct fault_visit inside = {.point = POINT_DB_DONE,
                                 .operation = "begin",
                                 .transaction = sent,
                                 .transaction_size = FP_COUNT(sent)};
    struct fault_visit outside = {.point = POINT_DB_EXEC, .operation = "begin"};
    assert_true(wants(NULL, TRANSACTION_INSIDE, &inside));
    assert_false(wants(NULL, TRANSACTION_INSIDE, &outside));
    assert_true(wants(NULL, TRANSACTION_OUTSIDE, &outside));
    assert_false(wants(NULL, TRANSACTION_OUTSIDE, &inside));
}

static void test_faults_crash_strikes_with_its_restart(void **state)
{
    (void)state;
    const struct fault_kind *kind = kind_of("crash");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {0};

    *(int64_t *)field_at(kind, config, "restart_after") = -1;
    strike(&host, kind, config, POINT_DB_COMMIT);
    assert_int_equal(host.did, CRASH);
    assert_int_equal(host.duration_ns, -1);
    assert_string_equal(field_find(kind->fields, kind->field_count, "restart_after")->words[0],
                        "never");
    free(config);
}

static void test_faults_pause_draws_from_its_range(void **state)
{
    (void)state;
    const struct fault_kind *kind = kind_of("pause");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {0};
    struct duration_range range = {20 * NS_PER_MIN, 90 * NS_PER_MIN};

    memcpy(field_at(kind, config, "for"), &range, sizeof range);
    strike(&host, kind, config, POINT_CLOUD_CALL);
    assert_int_equal(host.did, PAUSE);
    assert_int_equal(host.duration_ns, 90 * NS_PER_MIN);
    assert_int_equal(host.range.low_ns, 20 * NS_PER_MIN);
    free(config);
}

static void assert_drops(enum fault_point point, enum drop_how how)
{
    const struct fault_kind *kind = kind_of("connection_drop");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {0};

    strike(&host, kind, config, point);
    assert_int_equal(host.did, DROP);
    assert_int_equal(host.how, how);
    free(config);
}

static void test_faults_connection_drop_any_follows_the_point(void **state)
{
    (void)state;
    assert_drops(POINT_DB_EXEC, DROP_REQUEST_LOST);
    assert_drops(POINT_DB_COMMIT, DROP_REQUEST_LOST);
    assert_drops(POINT_DB_SENT, DROP_REPLY_LOST);
    assert_drops(POINT_DB_DONE, DROP_IDLE);
    assert_drops(POINT_WAKE, DROP_IDLE);
}

static uint64_t drop_points(int how, uint64_t asked)
{
    const struct fault_kind *kind = kind_of("connection_drop");
    struct fault_common *config = calloc(1, kind->config_size);
    config->points = asked;
    *(int *)field_at(kind, config, "how") = how;
    uint64_t points = fault_points(kind, config);
    free(config);
    return points;
}

static void test_faults_connection_drop_how_limits_the_points(void **state)
{
    (void)state;
    assert_int_equal(drop_points(1, 0), POINT_BIT(POINT_DB_EXEC));
    assert_int_equal(drop_points(2, 0), POINT_BIT(POINT_DB_SENT));
    assert_int_equal(drop_points(3, 0), POINT_BIT(POINT_DB_DONE));
    assert_int_equal(drop_points(2, POINT_BIT(POINT_DB_EXEC)), 0);
    assert_int_equal(drop_points(3, POINT_BIT(POINT_SLEEP)), POINT_BIT(POINT_SLEEP));
}

/* ---- calls that fail ---- */

static void assert_cloud_error(int word, uint32_t draw, enum cloud_error error)
{
    const struct fault_kind *kind = kind_of("cloud_error");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {.draw = draw};

    *(int *)field_at(kind, config, "kind") = word;
    strike(&host, kind, config, POINT_CLOUD_CALL);
    assert_int_equal(host.did, CLOUD);
    assert_int_equal(host.error, error);
    free(config);
}

static void test_faults_cloud_error_is_the_one_asked_for(void **state)
{
    (void)state;
    const struct fault_kind *kind = kind_of("cloud_error");
    const char *const *words = field_find(kind->fields, kind->field_count, "kind")->words;
    assert_string_equal(words[CLOUD_ERROR_THROTTLED], "throttled");
    assert_string_equal(words[CLOUD_ERROR_REQUEST_LOST], "request_lost");
    assert_string_equal(words[CLOUD_ERROR_REPLY_LOST], "reply_lost");
    assert_string_equal(words[CLOUD_ERROR_QUOTA], "quota");
    assert_string_equal(words[CLOUD_ERROR_CREDENTIALS], "credentials");
    assert_string_equal(words[CLOUD_ERROR_HALF_DONE], "half_done");
    for (int word = 0; word < CLOUD_ERROR_ANY; word++)
        assert_cloud_error(word, 0, (enum cloud_error)word);
    assert_cloud_error(CLOUD_ERROR_HALF_DONE, 0, CLOUD_ERROR_HALF_DONE);
}

static void test_faults_cloud_error_any_is_drawn(void **state)
{
    (void)state;
    for (uint32_t draw = 0; draw < CLOUD_ERROR_ANY; draw++)
        assert_cloud_error(CLOUD_ERROR_ANY, draw, (enum cloud_error)draw);
}

static void test_faults_store_error_strikes_before_a_call(void **state)
{
    (void)state;
    const struct fault_kind *kind = kind_of("store_error");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {0};

    assert_int_equal(kind->points, POINT_BIT(POINT_STORE_CALL));
    strike(&host, kind, config, POINT_STORE_CALL);
    assert_int_equal(host.did, STORE);
    free(config);
}

static void assert_service_error(int word, uint32_t draw, enum service_error error)
{
    const struct fault_kind *kind = kind_of("service_error");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {.draw = draw};

    *(int *)field_at(kind, config, "kind") = word;
    strike(&host, kind, config, POINT_SERVICE_CALL);
    assert_int_equal(host.did, SERVICE);
    assert_int_equal(host.number, error);
    free(config);
}

static void test_faults_service_error_is_the_one_asked_for_or_drawn(void **state)
{
    (void)state;
    const struct fault_kind *kind = kind_of("service_error");
    const char *const *words = field_find(kind->fields, kind->field_count, "kind")->words;
    assert_string_equal(words[SERVICE_ERROR_THROTTLED], "throttled");
    assert_string_equal(words[SERVICE_ERROR_REQUEST_LOST], "request_lost");
    assert_string_equal(words[SERVICE_ERROR_REPLY_LOST], "reply_lost");
    assert_string_equal(words[SERVICE_ERROR_REJECTED], "rejected");
    for (int word = 0; word < SERVICE_ERROR_ANY; word++) {
        assert_service_error(word, SERVICE_ERROR_THROTTLED, (enum service_error)word);
        assert_service_error(SERVICE_ERROR_ANY, (uint32_t)word, (enum service_error)word);
    }
}

static void test_faults_lock_state_loss_is_of_all_or_one(void **state)
{
    (void)state;
    const struct fault_kind *kind = kind_of("lock_state_loss");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {0};

    strike(&host, kind, config, POINT_DB_DONE);
    assert_int_equal(host.did, LOCKS);
    assert_false(host.one);
    *(int *)field_at(kind, config, "rows") = 1;
    strike(&host, kind, config, POINT_CLOCK);
    assert_true(host.one);
    assert_true(kind->of_environment);
    free(config);
}

/* ---- clocks ---- */

static void assert_steps(const char *name, int direction, uint32_t draw, int64_t by_ns)
{
    const struct fault_kind *kind = kind_of(name);
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {.draw = draw};
    struct duration_range by = {NS_PER_HOUR, 2 * NS_PER_HOUR};

    memcpy(field_at(kind, config, "by"), &by, sizeof by);
    *(int *)field_at(kind, config, "direction") = direction;
    strike(&host, kind, config, POINT_CLOCK);
    assert_int_equal(host.did, STEP_CLOCK);
    assert_int_equal(host.number, by_ns);
    free(config);
}

static void test_faults_clocks_are_stepped_forwards_and_backwards(void **state)
{
    (void)state;
    assert_steps("clock_skew", 1, 0, 2 * NS_PER_HOUR);
    assert_steps("clock_skew", 2, 0, -2 * NS_PER_HOUR);
    assert_steps("clock_jump", 0, 0, 2 * NS_PER_HOUR);
    assert_steps("clock_jump", 0, 1, -2 * NS_PER_HOUR);
}

static void test_faults_clock_drift_is_a_rate(void **state)
{
    (void)state;
    const struct fault_kind *kind = kind_of("clock_drift");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {0};

    *(int64_t *)field_at(kind, config, "ppm") = 100;
    *(int *)field_at(kind, config, "direction") = 2;
    strike(&host, kind, config, POINT_CLOCK);
    assert_int_equal(host.did, DRIFT_CLOCK);
    assert_int_equal(host.number, -100);
    free(config);
}

/* ---- the queue ---- */

static void assert_disturbs(int word, uint32_t draw, enum fault_point point, enum queue_error error)
{
    const struct fault_kind *kind = kind_of("queue_error");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {.draw = draw};
    struct duration_range delay = {0, NS_PER_MIN};

    *(int *)field_at(kind, config, "kind") = word;
    memcpy(field_at(kind, config, "delay"), &delay, sizeof delay);
    assert_int_equal(fault_points(kind, config) & POINT_BIT(point), POINT_BIT(point));
    strike(&host, kind, config, point);
    assert_int_equal(host.did, QUEUE);
    assert_int_equal(host.number, error);
    assert_int_equal(host.duration_ns, error == QUEUE_ERROR_EMPTY ? 0 : NS_PER_MIN);
    free(config);
}

static void test_faults_queue_error_fits_its_point(void **state)
{
    (void)state;
    assert_disturbs(QUEUE_ERROR_EMPTY, 0, POINT_QUEUE_RECEIVE, QUEUE_ERROR_EMPTY);
    assert_disturbs(QUEUE_ERROR_LATE, 0, POINT_QUEUE_SEND, QUEUE_ERROR_LATE);
    assert_disturbs(QUEUE_ERROR_DUPLICATE, 0, POINT_QUEUE_RECEIVED, QUEUE_ERROR_DUPLICATE);
    assert_disturbs(QUEUE_ERROR_EARLY, 0, POINT_QUEUE_RECEIVED, QUEUE_ERROR_EARLY);
    assert_disturbs(QUEUE_ERROR_COUNT, 0, POINT_QUEUE_SEND, QUEUE_ERROR_LATE);
    assert_disturbs(QUEUE_ERROR_COUNT, 0, POINT_QUEUE_RECEIVED, QUEUE_ERROR_DUPLICATE);
    assert_disturbs(QUEUE_ERROR_COUNT, 1, POINT_QUEUE_RECEIVED, QUEUE_ERROR_EARLY);
}

/* ---- the network and the server ---- */

static void test_faults_latency_is_of_every_statement(void **state)
{
    (void)state;
    const struct fault_kind *kind = kind_of("latency");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {0};
    struct duration_range delay = {NS_PER_MS, NS_PER_S};

    memcpy(field_at(kind, config, "delay"), &delay, sizeof delay);
    strike(&host, kind, config, POINT_DB_EXEC);
    assert_int_equal(host.did, DELAY);
    assert_int_equal(host.duration_ns, NS_PER_S);
    const struct field *times = field_find(kind->fields, kind->field_count, "times");
    assert_string_equal(times->fallback, "0");
    assert_int_equal(times->offset, offsetof(struct fault_common, times));
    free(config);
}

static void assert_parts(int word, uint32_t draw, enum partition_how how)
{
    const struct fault_kind *kind = kind_of("partition");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {.draw = draw};

    *(int *)field_at(kind, config, "how") = word;
    strike(&host, kind, config, POINT_CLOUD_CALL);
    assert_int_equal(host.did, PARTITION);
    assert_int_equal(host.number, how);
    free(config);
}

static void test_faults_partition_is_the_one_asked_for_or_drawn(void **state)
{
    (void)state;
    assert_parts(PARTITION_REFUSED, 0, PARTITION_REFUSED);
    assert_parts(PARTITION_HANGING, 0, PARTITION_HANGING);
    assert_parts(PARTITION_HOW_COUNT, 0, PARTITION_REFUSED);
    assert_parts(PARTITION_HOW_COUNT, 1, PARTITION_HANGING);
}

static void assert_hits(int word, uint32_t draw, enum container_how how)
{
    const struct fault_kind *kind = kind_of("container");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {.draw = draw};

    *(int *)field_at(kind, config, "how") = word;
    strike(&host, kind, config, POINT_DB_COMMITTED);
    assert_int_equal(host.did, CONTAINER);
    assert_int_equal(host.number, how);
    assert_true(kind->needs_container && kind->of_environment);
    free(config);
}

static void test_faults_container_is_hit_as_asked_for_or_drawn(void **state)
{
    (void)state;
    assert_hits(CONTAINER_PAUSE, 0, CONTAINER_PAUSE);
    assert_hits(CONTAINER_KILL, 0, CONTAINER_KILL);
    assert_hits(CONTAINER_HOW_COUNT, 0, CONTAINER_PAUSE);
    assert_hits(CONTAINER_HOW_COUNT, 1, CONTAINER_RESTART);
}

static void test_faults_pool_exhausted_limits(void **state)
{
    (void)state;
    const struct fault_kind *kind = kind_of("pool_exhausted");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {0};

    *(int64_t *)field_at(kind, config, "limit") = 4;
    *(int64_t *)field_at(kind, config, "wait") = NS_PER_MIN;
    strike(&host, kind, config, POINT_CLOCK);
    assert_int_equal(host.did, LIMIT);
    assert_int_equal(host.number, 4);
    assert_int_equal(host.duration_ns, NS_PER_MIN);
    assert_true(kind->of_environment);
    free(config);
}

static void test_faults_administrator_ends_or_cancels(void **state)
{
    (void)state;
    struct fault_common config = {0};
    struct fault_host host = {0};
    strike(&host, kind_of("backend_terminate"), &config, POINT_DB_BLOCKED);
    assert_int_equal(host.did, TERMINATE);
    strike(&host, kind_of("statement_cancel"), &config, POINT_DB_EXEC);
    assert_int_equal(host.did, CANCEL);
}

/* ---- servers ---- */

static void test_faults_servers_lag_die_and_are_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int did;
        bool kills_server, needs_standby;
    } kinds[] = {
        {"replication_lag", LAG, false, true},
        {"failover", FAIL_OVER, true, true},
        {"server_crash", CRASH_SERVER, true, false},
    };
    for (size_t i = 0; i < FP_COUNT(kinds); i++) {
        const struct fault_kind *kind = kind_of(kinds[i].name);
        void *config = calloc(1, kind->config_size);
        struct fault_host host = {0};
        strike(&host, kind, config, POINT_DB_COMMITTED);
        assert_int_equal(host.did, kinds[i].did);
        assert_true(kind->of_environment);
        assert_int_equal(kind->kills_server, kinds[i].kills_server);
        assert_int_equal(kind->needs_standby, kinds[i].needs_standby);
        free(config);
    }
}

static void test_faults_replication_lag_is_drawn_from_its_range(void **state)
{
    (void)state;
    const struct fault_kind *kind = kind_of("replication_lag");
    void *config = calloc(1, kind->config_size);
    struct fault_host host = {0};
    struct duration_range by = {NS_PER_HOUR, 2 * NS_PER_HOUR};

    memcpy(field_at(kind, config, "by"), &by, sizeof by);
    strike(&host, kind, config, POINT_CLOCK);
    assert_int_equal(host.number, 2 * NS_PER_HOUR); /* as this host draws */
    free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_registry_finds_each_by_its_name),
        cmocka_unit_test(test_faults_every_kind_is_well_formed),
        cmocka_unit_test(test_faults_common_fields_have_the_documented_defaults),
        cmocka_unit_test(test_faults_points_have_names),
        cmocka_unit_test(test_faults_points_asked_for_win_over_the_default),
        cmocka_unit_test(test_faults_operation_is_that_of_the_visit),
        cmocka_unit_test(test_faults_commit_is_found_by_its_statements),
        cmocka_unit_test(test_faults_transaction_is_inside_or_outside),
        cmocka_unit_test(test_faults_crash_strikes_with_its_restart),
        cmocka_unit_test(test_faults_pause_draws_from_its_range),
        cmocka_unit_test(test_faults_connection_drop_any_follows_the_point),
        cmocka_unit_test(test_faults_connection_drop_how_limits_the_points),
        cmocka_unit_test(test_faults_cloud_error_is_the_one_asked_for),
        cmocka_unit_test(test_faults_cloud_error_any_is_drawn),
        cmocka_unit_test(test_faults_store_error_strikes_before_a_call),
        cmocka_unit_test(test_faults_service_error_is_the_one_asked_for_or_drawn),
        cmocka_unit_test(test_faults_lock_state_loss_is_of_all_or_one),
        cmocka_unit_test(test_faults_clocks_are_stepped_forwards_and_backwards),
        cmocka_unit_test(test_faults_clock_drift_is_a_rate),
        cmocka_unit_test(test_faults_queue_error_fits_its_point),
        cmocka_unit_test(test_faults_latency_is_of_every_statement),
        cmocka_unit_test(test_faults_partition_is_the_one_asked_for_or_drawn),
        cmocka_unit_test(test_faults_container_is_hit_as_asked_for_or_drawn),
        cmocka_unit_test(test_faults_pool_exhausted_limits),
        cmocka_unit_test(test_faults_administrator_ends_or_cancels),
        cmocka_unit_test(test_faults_servers_lag_die_and_are_replaced),
        cmocka_unit_test(test_faults_replication_lag_is_drawn_from_its_range),
    };
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
