"""Runs a program under a filter of system calls like that of a container's runtime.

usage: container.py [-CALL ...] PROGRAM [ARGUMENT ...]

Calls that Docker's default profile refuses fail with EPERM. Each -CALL names one more.
"""
import ctypes
import os
import platform
import struct
import sys

# Numbers on x86-64 and on 64-bit ARM.
CALLS = {
    'unshare': (272, 97), 'setns': (308, 268), 'mount': (165, 40), 'umount2': (166, 39), 'pivot_root': (155, 41),
    'open_tree': (428, 428), 'move_mount': (429, 429), 'fsopen': (430, 430), 'fsconfig': (431, 431),
    'fsmount': (432, 432), 'fspick': (433, 433), 'mount_setattr': (442, 442), 'pidfd_getfd': (438, 438),
    'bpf': (321, 280), 'perf_event_open': (298, 241), 'keyctl': (250, 219), 'add_key': (248, 217),
    'request_key': (249, 218), 'userfaultfd': (323, 282), 'kcmp': (312, 272), 'open_by_handle_at': (304, 265),
}
MORE = {
    'openat2': (437, 437), 'seccomp': (317, 277), 'process_vm_readv': (310, 270),
    'landlock_create_ruleset': (444, 444), 'landlock_add_rule': (445, 445), 'landlock_restrict_self': (446, 446),
}
CLONE, CLONE3 = (56, 220), (435, 435)
NAMESPACES = 0x7E020000

machine = 0 if platform.machine() == 'x86_64' else 1
ALLOW, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06


def step(code, value, yes=0, no=0):
    return struct.pack('HBBI', code, yes, no, value)


def main(arguments):
    refused = dict(CALLS)
    while arguments[0].startswith('-'):
        name = arguments.pop(0)[1:]
        refused[name] = MORE[name]
    program = [step(LOAD, 0)]
    for numbers in refused.values():
        program += [step(EQUAL, numbers[machine], 0, 1), step(RETURN, EPERM)]
    program += [step(EQUAL, CLONE3[machine], 0, 1), step(RETURN, ENOSYS)]
    # The flags of clone are its first argument.
    program += [step(EQUAL, CLONE[machine], 0, 3), step(LOAD, 16), step(ANY_BIT, NAMESPACES, 0, 1)]
    program += [step(RETURN, EPERM), step(RETURN, ALLOW)]
    code = b''.join(program)
    kept = ctypes.create_string_buffer(code)
    filter = struct.pack('HxxxxxxQ', len(program), ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    # Without privileges only a process that can gain none may have a filter.
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.c_char_p(filter), 0, 0):
        sys.exit(f'no filter: {os.strerror(ctypes.get_errno())}')
    os.execvp(arguments[0], arguments)


main(sys.argv[1:])
