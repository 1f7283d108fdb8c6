#include "attack.h"
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

/* The address of a socket's name: `@NAME` is abstract. */
static socklen_t unix_address(const char *name, struct sockaddr_un *at) {
  memset(at, 0, sizeof *at);
  at->sun_family = AF_UNIX;
  strncpy(at->sun_path, name, sizeof at->sun_path - 1);
  if (*name == '@') at->sun_path[0] = 0;
  return offsetof(struct sockaddr_un, sun_path) + strlen(name) + (*name != '@');
}

static int tell(int fd, const char *text) {
  return send(fd, text, strlen(text), MSG_NOSIGNAL) < 0 ? failed("send") : 0;
}

/* NAME TEXT */
static int unix_connect(int argc, char **argv) {
  struct sockaddr_un at;
  socklen_t length = unix_address(argv[1], &at);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  return connect(fd, (void *)&at, length) ? failed("connect") : tell(fd, argv[2]);
}

/* NAME TEXT: through a descriptor of the socket's file. */
static int unix_by_descriptor(int argc, char **argv) {
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", open(argv[1], O_PATH));
  char *again[] = {argv[0], name, argv[2]};
  return unix_connect(3, again);
}

/* DIR NAME TEXT: by a relative name from the socket's own directory. */
static int unix_from_there(int argc, char **argv) {
  if (chdir(argv[1])) return failed("chdir");
  return unix_connect(3, argv + 1);
}

/* NAME TEXT: datagrams by sendto, sendmsg and sendmmsg. */
static int unix_datagram(int how, char **argv) {
  struct sockaddr_un at;
  socklen_t length = unix_address(argv[1], &at);
  struct iovec part = {argv[2], strlen(argv[2])};
  struct mmsghdr many = {.msg_hdr = {.msg_name = &at, .msg_namelen = length, .msg_iov = &part, .msg_iovlen = 1}};
  int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  long sent = how == 0   ? sendto(fd, argv[2], strlen(argv[2]), 0, (void *)&at, length)
              : how == 1 ? sendmsg(fd, &many.msg_hdr, 0)
                         : sendmmsg(fd, &many, 1, 0);
  return sent < 0 ? failed("send") : 0;
}
static int unix_sendto(int argc, char **argv) { return unix_datagram(0, argv); }
static int unix_sendmsg(int argc, char **argv) { return unix_datagram(1, argv); }
static int unix_sendmmsg(int argc, char **argv) { return unix_datagram(2, argv); }

/* NAME: a datagram socket of the host, which prints what it receives. */
static int listen_datagrams(int argc, char **argv) {
  struct sockaddr_un at;
  socklen_t length = unix_address(argv[1], &at);
  char text[256];
  int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (bind(fd, (void *)&at, length)) return failed("bind");
  puts("listening");
  for (;;) {
    fflush(stdout);
    ssize_t got = recv(fd, text, sizeof text, 0);
    if (got < 0 || fwrite(text, 1, got, stdout) == 0) return failed("recv");
  }
}

/* NAME: accepts and stays, and prints what it receives. */
static int listen_stream(int argc, char **argv) {
  struct sockaddr_un at;
  socklen_t length = unix_address(argv[1], &at);
  char text[256];
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(fd, (void *)&at, length) || listen(fd, 8)) return failed("bind");
  puts("listening");
  for (;;) {
    fflush(stdout);
    int one = accept(fd, NULL, NULL);
    for (ssize_t got; (got = recv(one, text, sizeof text, 0)) > 0;) fwrite(text, 1, got, stdout);
    close(one);
  }
}

/* ADDRESS PORT, numeric, IPv4 or IPv6. */
static socklen_t inet_address(char **argv, struct sockaddr_storage *at) {
  struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *found = NULL;
  if (getaddrinfo(argv[1], argv[2], &hints, &found)) return 0;
  memcpy(at, found->ai_addr, found->ai_addrlen);
  return found->ai_addrlen;
}

/* ADDRESS PORT TEXT: a connection of one protocol. */
static int stream(int protocol, char **argv) {
  struct sockaddr_storage at;
  socklen_t length = inet_address(argv, &at);
  int fd = socket(at.ss_family, SOCK_STREAM, protocol);
  if (fd < 0) return failed("socket");
  return connect(fd, (void *)&at, length) ? failed("connect") : tell(fd, argv[3]);
}
static int tcp(int argc, char **argv) { return stream(0, argv); }
static int mptcp(int argc, char **argv) { return stream(IPPROTO_MPTCP, argv); }

/* ADDRESS PORT TEXT: data with the first packet, which needs no connect. */
static int fast_open(int argc, char **argv) {
  struct sockaddr_storage at;
  socklen_t length = inet_address(argv, &at);
  int fd = socket(at.ss_family, SOCK_STREAM, 0);
  long sent = sendto(fd, argv[3], strlen(argv[3]), MSG_FASTOPEN | MSG_NOSIGNAL, (void *)&at, length);
  if (sent < 0) return failed("sendto");
  return shutdown(fd, SHUT_WR) ? failed("shutdown") : (recv(fd, argv[3], 1, 0), 0);
}

/* ADDRESS PORT TEXT: a socket bound to the machine's own address first. */
static int bound(int argc, char **argv) {
  struct sockaddr_storage at;
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = inet_address(argv, &at);
  int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &yes, sizeof yes);
  if (bind(fd, (void *)&own, sizeof own)) return failed("bind");
  return connect(fd, (void *)&at, length) ? failed("connect") : tell(fd, argv[3]);
}

/* ADDRESS PORT TEXT: UDP by sendto, sendmmsg, and connect with write. */
static int udp(int how, char **argv) {
  struct sockaddr_storage at;
  socklen_t length = inet_address(argv, &at);
  struct iovec part = {argv[3], strlen(argv[3])};
  struct mmsghdr many = {.msg_hdr = {.msg_name = &at, .msg_namelen = length, .msg_iov = &part, .msg_iovlen = 1}};
  int fd = socket(at.ss_family, SOCK_DGRAM, 0);
  if (fd < 0) return failed("socket");
  if (how == 0) return sendto(fd, argv[3], part.iov_len, 0, (void *)&at, length) < 0 ? failed("sendto") : 0;
  if (how == 1) return sendmmsg(fd, &many, 1, 0) < 0 ? failed("sendmmsg") : 0;
  return connect(fd, (void *)&at, length) ? failed("connect") : put(fd, argv[3]);
}
static int udp_sendto(int argc, char **argv) { return udp(0, argv); }
static int udp_sendmmsg(int argc, char **argv) { return udp(1, argv); }
static int udp_connect(int argc, char **argv) { return udp(2, argv); }

/* PORT TEXT: a UDP packet of our own making. Needs a privilege. */
static int raw_udp(int argc, char **argv) {
  unsigned char packet[512] = {0};
  size_t length = strlen(argv[2]);
  uint16_t head[4] = {htons(1024), htons(atoi(argv[1])), htons(8 + length), 0};
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int fd = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
  if (fd < 0) return failed("socket");
  memcpy(packet, head, 8);
  memcpy(packet + 8, argv[2], length);
  return sendto(fd, packet, 8 + length, 0, (void *)&at, sizeof at) < 0 ? failed("sendto") : 0;
}

/* DOMAIN TYPE PROTOCOL: whether such a socket can be made. */
static int family(int argc, char **argv) {
  int fd = socket(atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
  return fd < 0 ? failed("socket") : said();
}

/* TEXT: tries to send on each inherited socket, and to connect each to nowhere. */
static int inherited_sockets(int argc, char **argv) {
  int found = 0;
  for (int fd = 3; fd < 1024; fd++) {
    struct stat stat;
    if (fstat(fd, &stat) == 0 && S_ISSOCK(stat.st_mode)) found++;
  }
  return found ? said() : 1;
}

/* PORT TEXT, 32-bit entry points: `socketcall` in the table of i386, which a filter of x86_64 does not see. */
#ifdef __x86_64__
#include <sys/mman.h>
static long int80(long nr, long a, long b, long c) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
  return result;
}
static void *low(size_t size) {
  return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
}
static int int80_unix(int argc, char **argv) {
  char *page = low(4096);
  uint32_t *args = (uint32_t *)page;
  struct sockaddr_un *at = (void *)(page + 64);
  args[0] = AF_UNIX, args[1] = SOCK_STREAM, args[2] = 0;
  long fd = int80(102, 1, (long)args, 0);
  args[0] = fd, args[1] = (uint32_t)(uintptr_t)at, args[2] = unix_address(argv[1], at);
  long done = int80(102, 3, (long)args, 0);
  return fd < 0 || done < 0 ? (fprintf(stderr, "int80: %ld %ld\n", fd, done), 1) : tell(fd, argv[2]);
}
static int int80_open(int argc, char **argv) {
  char *name = low(4096);
  strcpy(name, argv[1]);
  long fd = int80(5, (long)name, O_WRONLY | O_CREAT, 0644);
  return fd < 0 ? (fprintf(stderr, "int80: %ld\n", fd), 1) : put(fd, argv[2]);
}
#else
static int int80_unix(int argc, char **argv) { return 1; }
static int int80_open(int argc, char **argv) { return 1; }
#endif

const struct attack socket_attacks[] = {
    {"unix", unix_connect},         {"unix-by-descriptor", unix_by_descriptor}, {"unix-from-there", unix_from_there},
    {"unix-sendto", unix_sendto},   {"unix-sendmsg", unix_sendmsg},             {"unix-sendmmsg", unix_sendmmsg},
    {"tcp", tcp},                   {"mptcp", mptcp},                           {"fast-open", fast_open},
    {"bound", bound},               {"udp", udp_sendto},                        {"udp-many", udp_sendmmsg},
    {"udp-connect", udp_connect},   {"raw-udp", raw_udp},                       {"family", family},
    {"inherited-sockets", inherited_sockets},                                   {"int80-unix", int80_unix},
    {"int80-open", int80_open},     {"listen-datagrams", listen_datagrams},     {"listen", listen_stream},
    {NULL, NULL},
};
