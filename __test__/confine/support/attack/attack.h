/* The attacks that a shell and Python cannot make. One program, one subcommand per attack. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* A subcommand: argv[0] is its name. Returns the exit code: 0 if the attack succeeded as far as it can know. */
typedef int (*attack_fn)(int argc, char **argv);
struct attack {
  const char *name;
  attack_fn run;
};

extern const struct attack file_attacks[], socket_attacks[], process_attacks[], call_attacks[], race_attacks[];

/* Text by which the test recognises an attack that has no other effect to be seen from outside. */
#define PWNED "PW" "NED"

static inline int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  return 1;
}

static inline int said(void) {
  puts(PWNED);
  return 0;
}

/* A system call has reached the kernel's own code unless a filter or a missing privilege stopped it before. */
static inline int reached(const char *what, long result) {
  if (result >= 0 || (errno != EPERM && errno != ENOSYS && errno != EACCES)) return said();
  return failed(what);
}

static inline int put(int fd, const char *text) {
  if (fd < 0) return failed("open");
  if (write(fd, text, strlen(text)) < 0) return failed("write");
  return 0;
}
