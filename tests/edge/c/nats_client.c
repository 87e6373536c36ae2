// Cases with the C client of NATS: nats_c_client CASE. The server is in EDGE_* variables.
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 20000

static void must(natsStatus status, const char* what) {
  if (status == NATS_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, natsStatus_GetText(status), nats_GetLastError(NULL));
  exit(1);
}
#define MUST(call) must((call), #call)

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "not so: %s\n", what);
  exit(1);
}
#define EXPECT(condition) expect((condition), #condition)

static natsOptions* options(void) {
  natsOptions* made = NULL;
  char url[64];
  snprintf(url, sizeof(url), "nats://127.0.0.1:%s", getenv("EDGE_NATS_PORT"));
  MUST(natsOptions_Create(&made));
  MUST(natsOptions_SetURL(made, url));
  MUST(natsOptions_SetTimeout(made, PATIENCE_MS));
  MUST(natsOptions_SetAllowReconnect(made, false));
  return made;
}

static natsConnection* connect_with(natsOptions* given) {
  natsConnection* connection = NULL;
  MUST(natsConnection_Connect(&connection, given));
  natsOptions_Destroy(given);
  return connection;
}

static natsMsg* next(natsSubscription* subscription) {
  natsMsg* message = NULL;
  MUST(natsSubscription_NextMsg(&message, subscription, PATIENCE_MS));
  return message;
}

static void publish_subscribe(void) {
  natsConnection* connection = connect_with(options());
  natsSubscription *all = NULL, *some = NULL;
  MUST(natsConnection_SubscribeSync(&all, connection, "a.>"));
  MUST(natsConnection_SubscribeSync(&some, connection, "a.*.c"));
  for (int i = 0; i < 1000; ++i) {
    MUST(natsConnection_PublishString(connection, i % 2 ? "a.b" : "a.b.c", "hello"));
  }
  for (int i = 0; i < 1000; ++i) {
    natsMsg* message = next(all);
    EXPECT(strcmp(natsMsg_GetSubject(message), i % 2 ? "a.b" : "a.b.c") == 0);
    EXPECT(natsMsg_GetDataLength(message) == 5);
    natsMsg_Destroy(message);
  }
  for (int i = 0; i < 500; ++i) natsMsg_Destroy(next(some));
  natsSubscription_Destroy(all);
  natsSubscription_Destroy(some);
  natsConnection_Destroy(connection);
}

static void queue_group(void) {
  natsConnection* connection = connect_with(options());
  natsSubscription* members[2] = {NULL, NULL};
  int counts[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    MUST(natsConnection_QueueSubscribeSync(&members[i], connection, "work", "pool"));
  }
  for (int i = 0; i < 100; ++i) MUST(natsConnection_PublishString(connection, "work", "x"));
  MUST(natsConnection_FlushTimeout(connection, PATIENCE_MS));
  for (int i = 0; i < 2; ++i) MUST(natsSubscription_GetPending(members[i], &counts[i], NULL));
  EXPECT(counts[0] + counts[1] == 100 && counts[0] > 0 && counts[1] > 0);
  for (int i = 0; i < 2; ++i) natsSubscription_Destroy(members[i]);
  natsConnection_Destroy(connection);
}

static void answer(natsConnection* connection, natsSubscription* subscription, natsMsg* message,
                   void* closure) {
  (void)subscription, (void)closure;
  natsConnection_Publish(connection, natsMsg_GetReply(message), natsMsg_GetData(message),
                         natsMsg_GetDataLength(message));
  natsMsg_Destroy(message);
}

static void request_reply(void) {
  natsConnection* connection = connect_with(options());
  natsSubscription* service = NULL;
  natsMsg* reply = NULL;
  MUST(natsConnection_Subscribe(&service, connection, "service", answer, NULL));
  for (int i = 0; i < 100; ++i) {
    MUST(natsConnection_RequestString(&reply, connection, "service", "echo", PATIENCE_MS));
    EXPECT(natsMsg_GetDataLength(reply) == 4);
    natsMsg_Destroy(reply);
  }
  EXPECT(natsConnection_RequestString(&reply, connection, "nobody", "?", PATIENCE_MS) ==
         NATS_NO_RESPONDERS);
  natsSubscription_Destroy(service);
  natsConnection_Destroy(connection);
}

static void headers(void) {
  natsConnection* connection = connect_with(options());
  natsSubscription* subscription = NULL;
  natsMsg* message = NULL;
  const char* value = NULL;
  MUST(natsConnection_SubscribeSync(&subscription, connection, "h"));
  MUST(natsMsg_Create(&message, "h", NULL, "x", 1));
  MUST(natsMsgHeader_Set(message, "Trace", "abc"));
  MUST(natsConnection_PublishMsg(connection, message));
  natsMsg_Destroy(message);
  message = next(subscription);
  MUST(natsMsgHeader_Get(message, "Trace", &value));
  EXPECT(strcmp(value, "abc") == 0);
  natsMsg_Destroy(message);
  natsSubscription_Destroy(subscription);
  natsConnection_Destroy(connection);
}

static void durable_publish(void) {
  natsConnection* connection = connect_with(options());
  jsCtx* stream = NULL;
  jsPubAck* ack = NULL;
  jsPubOptions with_id;
  jsErrCode code = 0;
  MUST(jsPubOptions_Init(&with_id));
  with_id.MsgId = "same";
  MUST(natsConnection_JetStream(&stream, connection, NULL));
  MUST(js_Publish(&ack, stream, "sys.job.cancel", "x", 1, &with_id, &code));
  EXPECT(strcmp(ack->Stream, "CORDUM_SYS") == 0 && ack->Sequence > 0 && !ack->Duplicate);
  jsPubAck_Destroy(ack);
  MUST(js_Publish(&ack, stream, "sys.job.cancel", "x", 1, &with_id, &code));
  EXPECT(ack->Duplicate);
  jsPubAck_Destroy(ack);
  EXPECT(js_Publish(&ack, stream, "not.durable", "x", 1, NULL, &code) == NATS_NO_RESPONDERS);
  jsCtx_Destroy(stream);
  natsConnection_Destroy(connection);
}

static void drain(void) {
  natsConnection* connection = connect_with(options());
  natsSubscription* subscription = NULL;
  MUST(natsConnection_SubscribeSync(&subscription, connection, "d"));
  for (int i = 0; i < 10; ++i) MUST(natsConnection_PublishString(connection, "d", "x"));
  MUST(natsConnection_FlushTimeout(connection, PATIENCE_MS));
  MUST(natsSubscription_Drain(subscription));
  for (int i = 0; i < 10; ++i) natsMsg_Destroy(next(subscription));
  MUST(natsSubscription_WaitForDrainCompletion(subscription, PATIENCE_MS));
  natsSubscription_Destroy(subscription);
  natsConnection_Destroy(connection);
}

static void token(void) {
  natsOptions* right = options();
  MUST(natsOptions_SetToken(right, "s3cret"));
  natsConnection* connection = connect_with(right);
  MUST(natsConnection_FlushTimeout(connection, PATIENCE_MS));
  natsConnection_Destroy(connection);
  natsOptions* wrong = options();
  MUST(natsOptions_SetToken(wrong, "s3cret2"));
  EXPECT(natsConnection_Connect(&connection, wrong) == NATS_CONNECTION_AUTH_FAILED);
  natsOptions_Destroy(wrong);
}

static void user_password(void) {
  natsOptions* right = options();
  MUST(natsOptions_SetUserInfo(right, "ann", "p w"));
  natsConnection_Destroy(connect_with(right));
  natsConnection* connection = NULL;
  natsOptions* wrong = options();
  MUST(natsOptions_SetUserInfo(wrong, "ann", "wrong"));
  EXPECT(natsConnection_Connect(&connection, wrong) == NATS_CONNECTION_AUTH_FAILED);
  natsOptions_Destroy(wrong);
}

static void tls(void) {
  natsOptions* secure = options();
  MUST(natsOptions_SetSecure(secure, true));
  MUST(natsOptions_LoadCATrustedCertificates(secure, getenv("EDGE_CA")));
  MUST(natsOptions_SetExpectedHostname(secure, "localhost"));
  natsConnection* connection = connect_with(secure);
  natsSubscription* subscription = NULL;
  MUST(natsConnection_SubscribeSync(&subscription, connection, "t"));
  static char payload[1 << 20];
  MUST(natsConnection_Publish(connection, "t", payload, sizeof(payload)));
  natsMsg* message = next(subscription);
  EXPECT(natsMsg_GetDataLength(message) == sizeof(payload));
  natsMsg_Destroy(message);
  natsSubscription_Destroy(subscription);
  natsConnection_Destroy(connection);
}

// Set by callbacks of the library's threads.
static volatile int lost = 0, back = 0, closed = 0;

static void on_lost(natsConnection* connection, void* closure) {
  (void)connection, (void)closure;
  lost = 1;
}
static void on_back(natsConnection* connection, void* closure) {
  (void)connection, (void)closure;
  back = 1;
}
static void on_closed(natsConnection* connection, void* closure) {
  (void)connection, (void)closure;
  closed = 1;
}

static void await(volatile int* flag, const char* what) {
  for (int waited = 0; !*flag && waited < PATIENCE_MS; waited += 5) nats_Sleep(5);
  expect(*flag, what);
}

static void say(const char* word) {
  puts(word);
  fflush(stdout);
}

// The server is stopped and started again by the test, on the same port.
static void reconnect(void) {
  natsOptions* lasting = options();
  MUST(natsOptions_SetAllowReconnect(lasting, true));
  MUST(natsOptions_SetReconnectWait(lasting, 50));
  MUST(natsOptions_SetMaxReconnect(lasting, -1));
  MUST(natsOptions_SetDisconnectedCB(lasting, on_lost, NULL));
  MUST(natsOptions_SetReconnectedCB(lasting, on_back, NULL));
  natsConnection* connection = connect_with(lasting);
  natsSubscription* subscription = NULL;
  MUST(natsConnection_SubscribeSync(&subscription, connection, "again"));
  MUST(natsConnection_FlushTimeout(connection, PATIENCE_MS));
  say("restart");
  await(&lost, "the connection was lost");
  await(&back, "and came back");
  MUST(natsConnection_PublishString(connection, "again", "here"));
  natsMsg_Destroy(next(subscription));
  natsSubscription_Destroy(subscription);
  natsConnection_Destroy(connection);
}

// The server pings every 50 ms, and so does the client: both stay.
static void pings(void) {
  natsOptions* often = options();
  MUST(natsOptions_SetPingInterval(often, 50));
  MUST(natsOptions_SetMaxPingsOut(often, 100));
  natsConnection* connection = connect_with(often);
  for (int i = 0; i < 20; ++i) {
    nats_Sleep(25);
    MUST(natsConnection_FlushTimeout(connection, PATIENCE_MS));
  }
  EXPECT(natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED);
  natsConnection_Destroy(connection);
}

// A server that does not answer pings is given up.
static void ping_timeout(void) {
  natsOptions* strict = options();
  MUST(natsOptions_SetPingInterval(strict, 50));
  MUST(natsOptions_SetMaxPingsOut(strict, 2));
  MUST(natsOptions_SetClosedCB(strict, on_closed, NULL));
  natsConnection* connection = connect_with(strict);
  MUST(natsConnection_FlushTimeout(connection, PATIENCE_MS));
  say("freeze");
  await(&closed, "the silence was noticed");
  say("noticed");
  natsConnection_Destroy(connection);
}

int main(int count, char** words) {
  const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"publish_subscribe", publish_subscribe},
               {"queue_group", queue_group},
               {"request_reply", request_reply},
               {"headers", headers},
               {"durable_publish", durable_publish},
               {"drain", drain},
               {"token", token},
               {"user_password", user_password},
               {"tls", tls},
               {"reconnect", reconnect},
               {"pings", pings},
               {"ping_timeout", ping_timeout}};
  for (size_t i = 0; count == 2 && i < sizeof(cases) / sizeof(cases[0]); ++i) {
    if (strcmp(words[1], cases[i].name) != 0) continue;
    cases[i].run();
    nats_Close();
    puts("passed");
    return 0;
  }
  fprintf(stderr, "no such case\n");
  return 2;
}
