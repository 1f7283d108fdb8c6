#include "attack.h"
#include <linux/fs.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

/* A second thread that swaps what a check sees against what the call uses. */
static struct {
  char buffer[4096];
  const char *good, *bad, *one, *two;
  volatile int over;
} race;

static void *swap_text(void *unused) {
  (void)unused;
  size_t length = strlen(race.good) > strlen(race.bad) ? strlen(race.good) : strlen(race.bad);
  while (!race.over) {
    memcpy(race.buffer, race.good, length + 1);
    for (volatile int n = 0; n < 40; n++) continue;
    memcpy(race.buffer, race.bad, length + 1);
    for (volatile int n = 0; n < 40; n++) continue;
  }
  return NULL;
}

static void *swap_names(void *unused) {
  (void)unused;
  while (!race.over) syscall(SYS_renameat2, AT_FDCWD, race.one, AT_FDCWD, race.two, RENAME_EXCHANGE);
  return NULL;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

/* Runs `attempt` while `other` swaps, until it says that it won or the time is over. */
static int against(void *(*other)(void *), int (*attempt)(char **argv), char **argv, double seconds) {
  pthread_t thread;
  double end = now() + seconds;
  int won = 0;
  pthread_create(&thread, NULL, other, NULL);
  while (!won && now() < end) won = attempt(argv);
  race.over = 1;
  pthread_join(thread, NULL);
  return won ? 0 : 1;
}

/* Texts of one length, so that no half of one is a third name. */
static void texts(char **argv) {
  race.good = argv[1];
  race.bad = argv[2];
  strcpy(race.buffer, race.good);
}

static int exists(const char *path) {
  struct stat stat;
  return lstat(path, &stat) == 0;
}

static int try_open(char **argv) {
  int fd = open(race.buffer, O_WRONLY | O_CREAT, 0644);
  if (fd >= 0) close(fd);
  unlink(race.good);
  return exists(race.bad);
}
static int try_mkdir(char **argv) {
  if (mkdir(race.buffer, 0755) == 0) rmdir(race.good);
  return exists(race.bad);
}
static int try_symlink(char **argv) {
  if (symlink("x", race.buffer) == 0) unlink(race.good);
  return exists(race.bad);
}
static int try_rename(char **argv) {
  close(open(argv[3], O_WRONLY | O_CREAT, 0644));
  rename(argv[3], race.buffer);
  unlink(race.good);
  return exists(race.bad);
}
static int try_link(char **argv) {
  close(open(argv[3], O_WRONLY | O_CREAT, 0644));
  if (link(argv[3], race.buffer) == 0) unlink(race.good);
  return exists(race.bad);
}

/* GOOD BAD [FROM]: the name in memory changes during the call. */
#define TEXT_RACE(name) \
  static int race_##name(int argc, char **argv) { return texts(argv), against(swap_text, try_##name, argv, 0.7); }
TEXT_RACE(open)
TEXT_RACE(mkdir)
TEXT_RACE(symlink)
TEXT_RACE(rename)
TEXT_RACE(link)

/* The text that arrives is what the test looks for. */
static int connect_to(const struct sockaddr_un *at, const char *text) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (connect(fd, (const void *)at, sizeof *at) == 0) send(fd, text, strlen(text), MSG_NOSIGNAL);
  close(fd);
  return 0;
}
static int try_connect(char **argv) { return connect_to((void *)race.buffer, argv[3]); }

static int try_sendto(char **argv) {
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  sendto(fd, argv[3], strlen(argv[3]), MSG_NOSIGNAL, (void *)race.buffer, sizeof(struct sockaddr_un));
  close(fd);
  return 0;
}

static void *swap_address(void *unused) {
  (void)unused;
  while (!race.over) {
    strcpy(((struct sockaddr_un *)race.buffer)->sun_path, race.good);
    for (volatile int n = 0; n < 40; n++) continue;
    strcpy(((struct sockaddr_un *)race.buffer)->sun_path, race.bad);
    for (volatile int n = 0; n < 40; n++) continue;
  }
  return NULL;
}

/* GOOD BAD TEXT: the address of a socket changes during the call. */
static int race_address(char **argv, int (*attempt)(char **)) {
  race.good = argv[1], race.bad = argv[2];
  ((struct sockaddr_un *)race.buffer)->sun_family = AF_UNIX;
  against(swap_address, attempt, argv, 0.5);
  return 0;
}
static int race_connect(int argc, char **argv) { return race_address(argv, try_connect); }
static int race_sendto(int argc, char **argv) { return race_address(argv, try_sendto); }

static int try_through(char **argv) {
  char name[8192];
  snprintf(name, sizeof name, "%s/%s", argv[1], argv[3]);
  int fd = open(name, O_WRONLY | O_CREAT, 0644);
  if (fd >= 0) put(fd, "raced"), close(fd);
  snprintf(name, sizeof name, "%s/%s", argv[4], argv[3]);
  return exists(name);
}
static int try_connect_through(char **argv) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  snprintf(at.sun_path, sizeof at.sun_path, "%s/%s", argv[1], argv[3]);
  return connect_to(&at, argv[4]);
}

/* DIR LINK NAME OUT: a directory is exchanged with a symbolic link to OUT while DIR/NAME is created. */
static int race_directory(int argc, char **argv) {
  race.one = argv[1], race.two = argv[2];
  return against(swap_names, try_through, argv, 0.7);
}

/* DIR LINK NAME TEXT: the same while DIR/NAME is connected to. */
static int race_socket(int argc, char **argv) {
  race.one = argv[1], race.two = argv[2];
  against(swap_names, try_connect_through, argv, 0.5);
  return 0;
}

const struct attack race_attacks[] = {
    {"race-open", race_open},       {"race-mkdir", race_mkdir},     {"race-symlink", race_symlink},
    {"race-rename", race_rename},   {"race-link", race_link},       {"race-connect", race_connect},
    {"race-sendto", race_sendto},   {"race-directory", race_directory},
    {"race-socket", race_socket},   {NULL, NULL},
};
