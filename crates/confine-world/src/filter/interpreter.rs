//! Runs a filter's program as the kernel does.

use super::assemble::{ALLOW, AND, ANY_BIT, AT_LEAST, EQUAL, ERRNO, JUMP, LOAD, NOTIFY, RETURN};
use sys::BpfInstruction;

/// The end of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterReturn {
    Allow,
    Errno(u32),
    Notify,
}

/// Runs a program for one call. Panics where the kernel would not accept the program.
pub fn run(program: &[BpfInstruction], machine: u32, number: u32, args: [u64; 6]) -> FilterReturn {
    let mut data = Vec::new();
    data.extend_from_slice(&number.to_le_bytes());
    data.extend_from_slice(&machine.to_le_bytes());
    data.extend_from_slice(&[0; 8]);
    data.extend(args.iter().flat_map(|arg| arg.to_le_bytes()));
    let word = |at: u32| {
        assert_eq!(at % 4, 0);
        u32::from_le_bytes(data[at as usize..at as usize + 4].try_into().unwrap())
    };
    let (mut value, mut at) = (0_u32, 0_usize);
    loop {
        let BpfInstruction { code, yes, no, value: k } = program[at];
        at += 1;
        let jump = |holds: bool| usize::from(if holds { yes } else { no });
        match code {
            LOAD => value = word(k),
            AND => value &= k,
            JUMP => at += k as usize,
            EQUAL => at += jump(value == k),
            AT_LEAST => at += jump(value >= k),
            ANY_BIT => at += jump(value & k != 0),
            RETURN if k == ALLOW => return FilterReturn::Allow,
            RETURN if k == NOTIFY => return FilterReturn::Notify,
            RETURN => {
                assert_eq!(k & 0xffff_0000, ERRNO);
                return FilterReturn::Errno(k & 0xffff);
            }
            other => panic!("instruction {other:#x}"),
        }
    }
}
