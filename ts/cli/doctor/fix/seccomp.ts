import { signed } from './signed.ts';

/**
 * The calls of Linux 6.15 on x86 and ARM, with 32 and 64 bits, that a container may make without a condition. Missing
 * are those that Docker's profile refuses to a container with the default capabilities.
 */
const ALLOWED = `
  _llseek _newselect accept accept4 access adjtimex alarm arch_prctl arm_fadvise64_64 arm_sync_file_range bind
  breakpoint brk cacheflush cachestat capget capset chdir chmod chown chown32 chroot clock_adjtime clock_adjtime64
  clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep clock_nanosleep_time64 close
  close_range connect copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_ctl_old
  epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve execveat exit exit_group faccessat
  faccessat2 fadvise64 fadvise64_64 fallocate fanotify_mark fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat
  fcntl fcntl64 fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs
  fstatfs64 fsync ftruncate ftruncate64 futex futex_requeue futex_time64 futex_wait futex_waitv futex_wake futimesat
  get_robust_list get_thread_area getcpu getcwd getdents getdents64 getegid getegid32 geteuid geteuid32 getgid
  getgid32 getgroups getgroups32 getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid
  getresgid32 getresuid getresuid32 getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid
  getuid32 getxattr getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy
  io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit ioctl ioprio_get ioprio_set ipc kill
  landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lchown32 lgetxattr link linkat listen
  listmount listxattr listxattrat llistxattr lremovexattr lseek lsetxattr lstat lstat64 madvise map_shadow_stack
  membarrier memfd_create memfd_secret mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap mmap2 modify_ldt
  mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64
  mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync munlock munlockall munmap name_to_handle_at nanosleep
  newfstatat open openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll
  ppoll ppoll_time64 prctl pread64 preadv preadv2 prlimit64 process_mrelease process_vm_readv process_vm_writev
  pselect6 pselect6_time64 ptrace pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recv recvfrom
  recvmmsg recvmmsg_time64 recvmsg remap_file_pages removexattr removexattrat rename renameat renameat2
  restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
  rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min
  sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_rr_get_interval_time64
  sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop
  semtimedop semtimedop_time64 send sendfile sendfile64 sendmmsg sendmsg sendto set_robust_list set_thread_area
  set_tid_address set_tls setfsgid setfsgid32 setfsuid setfsuid32 setgid setgid32 setgroups setgroups32 setitimer
  setpgid setpriority setregid setregid32 setresgid setresgid32 setresuid setresuid32 setreuid setreuid32 setrlimit
  setsid setsockopt setuid setuid32 setxattr setxattrat shmat shmctl shmdt shmget shutdown sigaltstack signalfd
  signalfd4 sigprocmask sigreturn socketcall socketpair splice stat stat64 statfs statfs64 statmount statx symlink
  symlinkat sync sync_file_range sync_file_range2 syncfs sysinfo tee tgkill time timer_create timer_delete
  timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_create timerfd_gettime
  timerfd_gettime64 timerfd_settime timerfd_settime64 times tkill truncate truncate64 ugetrlimit umask uname unlink
  unlinkat uretprobe utime utimensat utimensat_time64 utimes vfork vmsplice wait4 waitid waitpid write writev
`;

/** The calls that worlds need besides, all of them. Docker's profile refuses them. */
export const OF_WORLDS = [
  'clone',
  'fsconfig',
  'fsmount',
  'fsopen',
  'mount_setattr',
  'move_mount',
  'open_tree',
  'setns',
  'unshare',
];

/** Calls with a condition on their first argument. */
const CONDITIONS: [name: string, op: string, value: number][] = [
  // All families of sockets but AF_ALG, 38, and AF_VSOCK, 40: cryptography of the kernel, and the host of a machine.
  ['socket', 'SCMP_CMP_LT', 38],
  ['socket', 'SCMP_CMP_EQ', 39],
  ['socket', 'SCMP_CMP_GT', 40],
  // Linux and its variants for 32 bits, and the query.
  ['personality', 'SCMP_CMP_EQ', 0],
  ['personality', 'SCMP_CMP_EQ', 0x8],
  ['personality', 'SCMP_CMP_EQ', 0x20000],
  ['personality', 'SCMP_CMP_EQ', 0x20008],
  ['personality', 'SCMP_CMP_EQ', 0xffffffff],
];

/** The architectures of a profile, by that of Node. */
const ARCHITECTURES: Record<string, string[]> = {
  x64: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'],
  arm64: ['SCMP_ARCH_AARCH64', 'SCMP_ARCH_ARM'],
};

const EPERM = 1;
const ENOSYS = 38;
const ALLOW = 'SCMP_ACT_ALLOW';
const REFUSE = 'SCMP_ACT_ERRNO';

/**
 * Returns a seccomp profile for containers. It has only what the OCI defines. Docker's format can also tie a rule to a
 * capability, but Kubernetes ignores that tie and would allow the call to everybody. The first line of the file is a
 * `comment` of Docker's format, which others ignore.
 */
export function seccompProfile(version: string, arch: string = process.arch): string {
  const rules = [
    { action: ALLOW, names: OF_WORLDS },
    // Its flags are in memory. The C library falls back to clone.
    { action: REFUSE, errnoRet: ENOSYS, names: ['clone3'] },
    ...CONDITIONS.map(([name, op, value]) => ({ action: ALLOW, names: [name], args: [{ index: 0, value, op }] })),
  ];
  const body = [
    `"action":"${ALLOW}","names":${JSON.stringify(ALLOWED.trim().split(/\s+/))}}`,
    ...rules.map((rule) => JSON.stringify(rule)),
  ].join(',\n');
  const rest = { defaultAction: REFUSE, defaultErrnoRet: EPERM, architectures: ARCHITECTURES[arch] };
  return signed(version, `${body}],\n${JSON.stringify(rest).slice(1)}\n`, ['{"syscalls":[{"comment":"', '",']);
}
