/* The least that a record of changes can cost: a listener that receives each question and lets the call go on.
 *
 *   floor watch PROGRAM [ARGUMENT]...   runs a program whose changes of files are asked about
 *   floor make DIRECTORY COUNT          makes COUNT small files, 100 in each new directory
 *   floor remove DIRECTORY              removes what `make` has made
 *
 * The filter asks about the same calls as that of a recorded command (crates/confine-world/src/filter/recorded.rs).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

static void fail(const char *what) {
  perror(what);
  exit(125);
}

/* The calls that are always asked about. */
static const int CALLS[] = {
#ifdef SYS_open
    SYS_creat,  SYS_mkdir,  SYS_mknod, SYS_link,  SYS_symlink,   SYS_rename, SYS_unlink, SYS_rmdir,
    SYS_chmod,  SYS_chown,  SYS_lchown, SYS_utime, SYS_utimes,   SYS_futimesat,
#endif
    SYS_mkdirat, SYS_mknodat, SYS_linkat, SYS_symlinkat, SYS_renameat2, SYS_unlinkat, SYS_truncate, SYS_fchmod,
    SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,
    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_bind,
};
enum { COUNT = sizeof CALLS / sizeof *CALLS, CHANGES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };

static int install(void) {
  struct sock_filter code[2 * COUNT + 16];
  int at = 0;
#define PUT(...) code[at++] = (struct sock_filter)__VA_ARGS__
#define LOAD(field) PUT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field)))
  LOAD(nr);
  for (int i = 0; i < COUNT; i++) {
    PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[i], 0, 1));
    PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  }
#ifdef SYS_open
  PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 0, 4));
  LOAD(args[1]);
  PUT(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CHANGES, 0, 1));
  PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
#endif
  PUT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3));
  LOAD(args[2]);
  PUT(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CHANGES, 0, 1));
  PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
  PUT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  struct sock_fprog program = {at, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail("no_new_privs");
  long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (listener < 0) {
    flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  }
  if (listener < 0) fail("seccomp");
  return listener;
}

static void give(int socket, int descriptor) {
  char byte = 0, room[CMSG_SPACE(sizeof descriptor)] = {0};
  struct iovec piece = {&byte, 1};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  *header = (struct cmsghdr){CMSG_LEN(sizeof descriptor), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (sendmsg(socket, &message, 0) != 1) fail("sendmsg");
}

static int take(int socket) {
  char byte, room[CMSG_SPACE(sizeof(int))];
  struct iovec piece = {&byte, 1};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  int descriptor;
  if (recvmsg(socket, &message, 0) != 1) fail("recvmsg");
  memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

static int watch(char **arguments) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) fail("socketpair");
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    int listener = install();
    give(ends[1], listener);
    close(listener);
    execvp(arguments[0], arguments);
    fail(arguments[0]);
  }
  close(ends[1]);
  int listener = take(ends[0]);
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
  struct pollfd set = {listener, POLLIN, 0};
  while (poll(&set, 1, -1) >= 0 || errno == EINTR) {
    if (set.revents & POLLIN) {
      struct seccomp_notif question = {0};
      if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question)) continue;
      struct seccomp_notif_resp answer = {.id = question.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
      ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    } else if (set.revents) {
      break;
    }
  }
  int status;
  if (waitpid(child, &status, 0) != child) fail("waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

enum { IN_ONE = 100 };

static void make(const char *directory, int count) {
  char path[4096];
  if (mkdir(directory, 0777) && errno != EEXIST) fail(directory);
  for (int i = 0; i < count; i++) {
    snprintf(path, sizeof path, "%s/%d", directory, i / IN_ONE);
    if (i % IN_ONE == 0 && mkdir(path, 0777)) fail(path);
    snprintf(path, sizeof path, "%s/%d/%d", directory, i / IN_ONE, i % IN_ONE);
    int file = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0 || write(file, path, 20) != 20 || close(file)) fail(path);
  }
}

static void empty(const char *directory) {
  char path[4096];
  for (int i = 0;; i++) {
    snprintf(path, sizeof path, "%s/%d", directory, i);
    if (access(path, F_OK)) break;
    for (int j = 0; j < IN_ONE; j++) {
      snprintf(path, sizeof path, "%s/%d/%d", directory, i, j);
      if (unlink(path) && errno != ENOENT) fail(path);
    }
    snprintf(path, sizeof path, "%s/%d", directory, i);
    if (rmdir(path)) fail(path);
  }
  if (rmdir(directory)) fail(directory);
}

int main(int count, char **words) {
  if (count > 2 && !strcmp(words[1], "watch")) return watch(words + 2);
  if (count == 4 && !strcmp(words[1], "make")) return make(words[2], atoi(words[3])), 0;
  if (count == 3 && !strcmp(words[1], "remove")) return empty(words[2]), 0;
  fputs("usage: floor watch PROGRAM... | make DIRECTORY COUNT | remove DIRECTORY\n", stderr);
  return 2;
}
