#include "attack.h"
#include <linux/bpf.h>
#include <linux/if_alg.h>
#include <linux/io_uring.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

/* One system call that a command has no need of, told apart from one that a filter stopped. */
static int call(int argc, char **argv) {
  const char *name = argv[1];
  struct stat nowhere;
  long word = 0;
#define TRY(text, ...) \
  if (strcmp(name, text) == 0) return reached(text, syscall(__VA_ARGS__))
  TRY("add_key", SYS_add_key, "user", "attack", "x", 1, -3);
  TRY("keyctl", SYS_keyctl, 0, -3, 1);
  TRY("request_key", SYS_request_key, "user", "attack:none", NULL, 0) ;
  TRY("userfaultfd", SYS_userfaultfd, 1);
  TRY("unshare-user", SYS_unshare, CLONE_NEWUSER);
  TRY("unshare-files-and-mounts", SYS_unshare, CLONE_NEWNS | CLONE_FS);
  TRY("setns", SYS_setns, open("/proc/self/ns/uts", O_RDONLY), 0);
  TRY("ptrace", SYS_ptrace, 0x4206, getppid(), 0, 0);
  TRY("kexec_load", SYS_kexec_load, 0, 17, &word, 0xffff);
  TRY("init_module", SYS_init_module, NULL, 0, "");
  TRY("finit_module", SYS_finit_module, -1, "", 0);
  TRY("delete_module", SYS_delete_module, "no-such-module", 0);
  TRY("swapon", SYS_swapon, "/dev/null", 0);
  TRY("swapoff", SYS_swapoff, "/dev/null");
  TRY("acct", SYS_acct, "/no/such/file");
  TRY("reboot", SYS_reboot, 0, 0, 0, 0);
  TRY("quotactl", SYS_quotactl, -1, "/dev/null", 0, 0);
  TRY("settimeofday", SYS_settimeofday, 1L, NULL);
  TRY("clock_settime", SYS_clock_settime, 999, NULL);
  TRY("sethostname", SYS_sethostname, 1L, -1);
  TRY("pivot_root", SYS_pivot_root, "/no", "/no");
  TRY("mount", SYS_mount, "none", "/no/such/place", "tmpfs", 0, 0);
  TRY("umount", SYS_umount2, "/no/such/place", 0);
  TRY("fsopen", SYS_fsopen, "tmpfs", 0);
  TRY("open_tree", SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE | AT_RECURSIVE);
  TRY("mount_setattr", SYS_mount_setattr, AT_FDCWD, "/", 0, NULL, 0);
  TRY("move_mount", SYS_move_mount, -1, "", -1, "", 4);
  TRY("fanotify", SYS_fanotify_init, 0x800, 0);
  TRY("process_vm_readv", SYS_process_vm_readv, getppid(), &nowhere, 0, &nowhere, 0, 0);
  TRY("seccomp-listener", SYS_seccomp, 1, 8, "\1\0\0\0\0\0\0\0");
  TRY("modify_ldt", SYS_modify_ldt, 0, &word, 8);
  TRY("iopl", SYS_iopl, 4);
  TRY("ioperm", SYS_ioperm, 0xffffff, 1, 1);
  TRY("syslog", SYS_syslog, 10, NULL, 0);
  TRY("open_by_handle_at", SYS_open_by_handle_at, AT_FDCWD, NULL, 0);
#undef TRY
  fprintf(stderr, "no call %s\n", name);
  return 2;
}

static int bpf(int argc, char **argv) {
  union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
  return reached("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr));
}

static int perf(int argc, char **argv) {
  struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_DUMMY};
  attr.exclude_kernel = attr.exclude_hv = 1;
  return reached("perf_event_open", syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

/* FLAG: a new namespace by clone or, with `3`, by clone3, whose flags lie in memory. */
static int new_namespace(int argc, char **argv) {
  long flags = strtol(argv[1], NULL, 0);
  struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};
  long child = argc > 2 ? syscall(SYS_clone3, &args, sizeof args) : syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  if (child > 0) waitpid(child, NULL, 0);
  return reached("clone", child);
}

/* A ring with one entry, by the kernel's own calls. */
struct ring {
  int fd;
  struct io_uring_params is;
  char *sq, *cq;
  struct io_uring_sqe *sqes;
};

static int ring_open(struct ring *ring) {
  memset(ring, 0, sizeof *ring);
  ring->fd = syscall(SYS_io_uring_setup, 4, &ring->is);
  if (ring->fd < 0) return failed("io_uring_setup");
  int rights = PROT_READ | PROT_WRITE;
  ring->sq = mmap(NULL, 4096, rights, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
  ring->cq = mmap(NULL, 4096, rights, MAP_SHARED, ring->fd, IORING_OFF_CQ_RING);
  ring->sqes = mmap(NULL, 4096, rights, MAP_SHARED, ring->fd, IORING_OFF_SQES);
  return ring->sq == MAP_FAILED || ring->cq == MAP_FAILED || ring->sqes == MAP_FAILED ? failed("mmap") : 0;
}

static int ring_do(struct ring *ring, struct io_uring_sqe entry) {
  unsigned *tail = (unsigned *)(ring->sq + ring->is.sq_off.tail), *mask = (unsigned *)(ring->sq + ring->is.sq_off.ring_mask);
  unsigned *array = (unsigned *)(ring->sq + ring->is.sq_off.array), *head = (unsigned *)(ring->cq + ring->is.cq_off.head);
  unsigned slot = *tail & *mask;
  ring->sqes[slot] = entry;
  array[slot] = slot;
  __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
  if (syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0) return -errno;
  struct io_uring_cqe *done = (struct io_uring_cqe *)(ring->cq + ring->is.cq_off.cqes);
  int result = done[*head & (ring->is.cq_entries - 1)].res;
  __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
  return result;
}

/* FILE TEXT: opened, or created, by a ring. Without TEXT the file is read. */
static int ring_file(int argc, char **argv) {
  struct ring ring;
  if (ring_open(&ring)) return 1;
  struct io_uring_sqe entry = {.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (uintptr_t)argv[1], .len = 0644};
  entry.open_flags = argc > 2 ? O_WRONLY | O_CREAT : O_RDONLY;
  int fd = ring_do(&ring, entry);
  char text[256] = "";
  if (fd < 0) return errno = -fd, failed("IORING_OP_OPENAT");
  if (argc > 2) return put(fd, argv[2]);
  return read(fd, text, sizeof text - 1) < 0 ? failed("read") : puts(text) < 0;
}

/* DIR: made by a ring. */
static int ring_mkdir(int argc, char **argv) {
  struct ring ring;
  if (ring_open(&ring)) return 1;
  struct io_uring_sqe entry = {.opcode = IORING_OP_MKDIRAT, .fd = AT_FDCWD, .addr = (uintptr_t)argv[1], .len = 0755};
  int done = ring_do(&ring, entry);
  return done < 0 ? (errno = -done, failed("IORING_OP_MKDIRAT")) : 0;
}

/* SOCKET TEXT: connected by a ring. */
static int ring_unix(int argc, char **argv) {
  struct ring ring;
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  if (ring_open(&ring)) return 1;
  strncpy(at.sun_path, argv[1], sizeof at.sun_path - 1);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  struct io_uring_sqe entry = {.opcode = IORING_OP_CONNECT, .fd = fd, .addr = (uintptr_t)&at, .off = sizeof at};
  int done = ring_do(&ring, entry);
  return done < 0 ? (errno = -done, failed("IORING_OP_CONNECT")) : put(fd, argv[2]);
}

/* Pushes a character into the input of the own terminal, for the shell that reads there next. */
static int push_input(int argc, char **argv) {
  int leader = posix_openpt(O_RDWR | O_NOCTTY), lock = 0, number, got = 0;
  char name[64];
  if (leader < 0 || ioctl(leader, TIOCSPTLCK, &lock) || ioctl(leader, TIOCGPTN, &number)) return failed("ptmx");
  snprintf(name, sizeof name, "/dev/pts/%d", number);
  if (fork()) return wait(&got), WEXITSTATUS(got);
  setsid();
  int tty = open(name, O_RDWR);
  ioctl(tty, TIOCSCTTY, 0);
  /* The high half of the argument is ignored by the kernel, and must be by the filter. */
  unsigned long request = argc > 1 ? 0xdead00000000UL | TIOCSTI : TIOCSTI;
  exit(syscall(SYS_ioctl, tty, request, "x") ? failed("TIOCSTI") : said());
}

/* Sets the line discipline of a terminal of its own. The kernel loads the module of one that it does not know. */
static int line_discipline(int argc, char **argv) {
  int discipline = 0;
  return ioctl(posix_openpt(O_RDWR | O_NOCTTY), TIOCSETD, &discipline) ? failed("TIOCSETD") : said();
}

/* KEY [TEXT]: System V memory, a queue, and a POSIX queue. */
static int shared_memory(int argc, char **argv) {
  char *at = shmat(shmget(strtol(argv[1], NULL, 0), 0, 0), NULL, 0);
  if (at == (void *)-1) return failed("shmat");
  return argc > 2 ? (strcpy(at, argv[2]), 0) : puts(at) < 0;
}
static int queue_send(int argc, char **argv) {
  struct { long type; char text[64]; } message = {.type = 1};
  strncpy(message.text, argv[2], sizeof message.text - 1);
  int id = msgget(strtol(argv[1], NULL, 0), 0);
  return msgsnd(id, &message, sizeof message.text, IPC_NOWAIT) ? failed("msgsnd") : 0;
}
static int semaphore_set(int argc, char **argv) {
  struct sembuf up = {.sem_op = 1};
  return semop(semget(strtol(argv[1], NULL, 0), 1, 0), &up, 1) ? failed("semop") : said();
}
static int posix_queue(int argc, char **argv) {
  mqd_t queue = mq_open(argv[1], O_WRONLY);
  return queue < 0 || mq_send(queue, argv[2], strlen(argv[2]), 0) ? failed("mq_open") : said();
}

/* Makes what the three above attack, on the host: KEY NAME TEXT. Removes it with `remove`. */
static int ipc_victim(int argc, char **argv) {
  key_t key = strtol(argv[1], NULL, 0);
  if (strcmp(argv[3], "remove") == 0) {
    shmctl(shmget(key, 0, 0), IPC_RMID, NULL);
    msgctl(msgget(key, 0), IPC_RMID, NULL);
    semctl(semget(key, 1, 0), 0, IPC_RMID);
    return mq_unlink(argv[2]);
  }
  char *at = shmat(shmget(key, 4096, IPC_CREAT | 0666), NULL, 0);
  if (at == (void *)-1) return failed("shmat");
  strcpy(at, argv[3]);
  if (msgget(key, IPC_CREAT | 0666) < 0 || semget(key, 1, IPC_CREAT | 0666) < 0) return failed("msgget");
  return mq_open(argv[2], O_CREAT | O_RDWR, 0666, NULL) < 0 ? failed("mq_open") : 0;
}

/* CAPABILITY: whether it can be had, by any of the ways to raise one. */
static int capability(int argc, char **argv) {
  struct { uint32_t version; int pid; } head = {0x20080522, 0};
  struct { uint32_t effective, permitted, inheritable; } sets[2] = {{0}};
  int bit = atoi(argv[1]);
  if (syscall(SYS_capget, &head, sets)) return failed("capget");
  sets[bit / 32].effective |= 1u << (bit % 32);
  sets[bit / 32].permitted |= 1u << (bit % 32);
  sets[bit / 32].inheritable |= 1u << (bit % 32);
  if (syscall(SYS_capset, &head, sets)) return failed("capset");
  return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, bit, 0, 0) ? failed("PR_CAP_AMBIENT") : said();
}

/* Says so if the program has more rights than who started it. */
static int risen(int argc, char **argv) {
  struct { uint32_t version; int pid; } head = {0x20080522, 0};
  struct { uint32_t effective, permitted, inheritable; } sets[2] = {{0}};
  syscall(SYS_capget, &head, sets);
  return geteuid() != getuid() || sets[0].effective ? said() : 1;
}

const struct attack call_attacks[] = {
    {"call", call},           {"bpf", bpf},               {"perf", perf},           {"namespace", new_namespace},
    {"ring-file", ring_file}, {"ring-mkdir", ring_mkdir}, {"ring-unix", ring_unix}, {"push-input", push_input},
    {"line-discipline", line_discipline},
    {"shared-memory", shared_memory},                     {"queue", queue_send},    {"semaphore", semaphore_set},
    {"posix-queue", posix_queue},                         {"ipc-victim", ipc_victim},
    {"capability", capability},                           {"risen", risen},         {NULL, NULL},
};
