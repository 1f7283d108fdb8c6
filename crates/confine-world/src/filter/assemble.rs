//! Translates rules into instructions of the kernel's packet filter.

use std::collections::BTreeMap;

use super::calls::{NONE, SyscallEntry};
use super::performed;
use super::recorded;
use super::syscall_rule::{RegisterTest, SyscallAction, SyscallCase, SyscallFilterMode, SyscallRule};
use super::table;
use sys::{BpfInstruction, SyscallArchitecture};

/// Loads a word of the call.
pub const LOAD: u16 = 0x20;
/// Compares for equality.
pub const EQUAL: u16 = 0x15;
/// Compares as unsigned numbers: at least.
pub const AT_LEAST: u16 = 0x35;
/// Compares bits: any of them.
pub const ANY_BIT: u16 = 0x45;
/// Skips as many instructions as its value says.
pub const JUMP: u16 = 0x05;
/// Keeps bits.
pub const AND: u16 = 0x54;
/// Ends with a value.
pub const RETURN: u16 = 0x06;

/// The call is performed.
pub const ALLOW: u32 = 0x7fff_0000;
/// The call fails with the error number in the lower half.
pub const ERRNO: u32 = 0x0005_0000;
/// The listener is asked.
pub const NOTIFY: u32 = 0x7fc0_0000;

/// Offsets in the description of a call: its number, the kind of machine, the arguments.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64`
pub const AUDIT_X86: u32 = 0xc000_003e;
/// See [`AUDIT_X86`].
pub const AUDIT_ARM: u32 = 0xc000_00b7;
/// The bit of numbers of the x32 machine.
const X32: u32 = 0x4000_0000;
const EPERM: u32 = 1;
const ENOSYS: u32 = 38;

/// `AT_FDCWD`
const AT_FDCWD: u32 = -100_i32 as u32;

const fn step(code: u16, value: u32) -> BpfInstruction {
    BpfInstruction { code, yes: 0, no: 0, value }
}

/// Returns the offset of an argument's lower half. Arguments have eight bytes, and both machines have the lower half
/// first.
fn lower_half_offset(argument: usize) -> u32 {
    ARGUMENTS + 8 * argument as u32
}

/// Returns the name of a machine in the description of a call.
fn audit_architecture(machine: SyscallArchitecture) -> u32 {
    match machine {
        SyscallArchitecture::X86 => AUDIT_X86,
        SyscallArchitecture::Arm => AUDIT_ARM,
    }
}

/// Returns whether a call comes from the machine's own call table, not from another ABI (32 bits, x32) in the same
/// process.
pub fn is_known(machine: SyscallArchitecture, of: u32, number: u32) -> bool {
    of == audit_architecture(machine) && number < X32
}

/// Returns the answer to calls of other kinds of machines in the same process (32 bits, x32). Few programs make such
/// calls, so a filter that only records asks the listener about each of them.
fn foreign_machine_answer(variant: SyscallFilterMode) -> u32 {
    if variant == SyscallFilterMode::Recorded { NOTIFY } else { ERRNO | EPERM }
}

/// Returns the program for a machine.
pub fn program(machine: SyscallArchitecture, variant: SyscallFilterMode) -> Vec<BpfInstruction> {
    let mut program = vec![
        step(LOAD, MACHINE),
        BpfInstruction { code: EQUAL, yes: 1, no: 0, value: audit_architecture(machine) },
        step(RETURN, foreign_machine_answer(variant)),
        step(LOAD, NUMBER),
    ];
    program.extend(search_program(&syscall_ranges(machine, variant)));
    program
}

/// The first number of a range of calls, and what happens to them.
type SyscallRange = (u32, Vec<BpfInstruction>);

/// Returns all calls as ranges, in their order. The last range has no end.
fn syscall_ranges(machine: SyscallArchitecture, variant: SyscallFilterMode) -> Vec<SyscallRange> {
    let blocks = table::all()
        .map(|entry| (syscall_number(entry, machine), action_block(&conditional_actions(entry, variant), variant)));
    let blocks: BTreeMap<_, _> = blocks.filter(|(number, _)| *number != NONE).collect();
    let allowed = vec![step(RETURN, ALLOW)];
    let mut ranges = vec![(0, allowed.clone())];
    for (number, block) in blocks {
        match ranges.last_mut() {
            // The range that ends the call before.
            Some((begin, rest)) if *begin == number => *rest = block,
            _ => ranges.push((number, block)),
        }
        ranges.push((number + 1, allowed.clone()));
    }
    if variant.performs() {
        ranges.push((performed::UNKNOWN, vec![step(RETURN, ERRNO | ENOSYS)]));
    }
    ranges.push((X32, vec![step(RETURN, foreign_machine_answer(variant))]));
    ranges.dedup_by(|range, before| range.1 == before.1);
    ranges
}

/// The next step of a comparison.
#[derive(Clone, Copy)]
enum BranchTarget {
    /// At another comparison.
    Branch(usize),
    /// At a block.
    Block(usize),
}

/// Finds the range of a number by binary search, and then does what its block says. Equal blocks exist once.
///
/// Each command installs the program. The kernel then translates it, and runs it for every number to learn which calls
/// are always allowed. With a list of all calls that took 0.2 ms.
fn search_program(ranges: &[SyscallRange]) -> Vec<BpfInstruction> {
    search_tree(ranges).unwrap_or_else(|| {
        let (lower, upper) = ranges.split_at(ranges.len() / 2);
        let (first, lower, upper) = (upper[0].0, search_program(lower), search_program(upper));
        let choice = BpfInstruction { code: AT_LEAST, yes: 0, no: 1, value: first };
        [vec![choice, step(JUMP, lower.len() as u32)], lower, upper].concat()
    })
}

/// Finds the range of a number by one search tree. `None`: a comparison cannot lead as far as a block.
fn search_tree(ranges: &[SyscallRange]) -> Option<Vec<BpfInstruction>> {
    let mut blocks: Vec<Vec<BpfInstruction>> = Vec::new();
    let mut places = Vec::new();
    for (first, block) in ranges {
        let known = blocks.iter().position(|known| known == block);
        places.push((*first, known.unwrap_or(blocks.len())));
        if known.is_none() {
            blocks.push(block.clone());
        }
    }
    let mut branches = Vec::new();
    add_comparisons(&places, &mut branches);
    let begins = blocks.iter().scan(branches.len(), |next, block| Some(std::mem::replace(next, *next + block.len())));
    let begins: Vec<_> = begins.collect();
    let branch = |(at, (first, targets)): (usize, &(u32, [BranchTarget; 2]))| {
        let [yes, no] = targets.map(|target| {
            let to = match target {
                BranchTarget::Branch(to) => to,
                BranchTarget::Block(block) => begins[block],
            };
            u8::try_from(to - at - 1).ok()
        });
        Some(BpfInstruction { code: AT_LEAST, yes: yes?, no: no?, value: *first })
    };
    branches.iter().enumerate().map(branch).chain(blocks.iter().flatten().copied().map(Some)).collect()
}

/// Adds the comparisons that lead to the blocks of these ranges. Each comparison leads only to later instructions.
fn add_comparisons(ranges: &[(u32, usize)], branches: &mut Vec<(u32, [BranchTarget; 2])>) -> BranchTarget {
    let (lower, upper) = ranges.split_at(ranges.len() / 2);
    let [(first, block), ..] = upper else { return BranchTarget::Block(0) };
    if lower.is_empty() {
        return BranchTarget::Block(*block);
    }
    let at = branches.len();
    branches.push((*first, [BranchTarget::Branch(at); 2]));
    let no = add_comparisons(lower, branches);
    branches[at].1 = [add_comparisons(upper, branches), no];
    BranchTarget::Branch(at)
}

/// Returns the number of a call on a machine.
pub fn syscall_number(entry: &SyscallEntry, machine: SyscallArchitecture) -> u32 {
    match machine {
        SyscallArchitecture::X86 => entry.x86,
        SyscallArchitecture::Arm => entry.arm,
    }
}

/// Tests, and the action if all of them hold.
type ConditionalAction = (Vec<RegisterTest>, SyscallAction);

fn conditional_action(SyscallCase(tests, action): &SyscallCase) -> ConditionalAction {
    (tests.to_vec(), *action)
}

/// Returns the decisions about a call. With `ConfinedAndRecorded`, the filter also records the calls that confinement
/// allows.
fn conditional_actions(entry: &SyscallEntry, variant: SyscallFilterMode) -> Vec<ConditionalAction> {
    let record: SyscallRule = recorded::recorded_rule(entry.name);
    let rule = performed::performed_rule(entry.name).filter(|_| variant.performs()).unwrap_or(entry.rule);
    match variant {
        SyscallFilterMode::Silent | SyscallFilterMode::Confined | SyscallFilterMode::Performed => {
            rule.iter().map(conditional_action).collect()
        }
        SyscallFilterMode::Recorded => recorded::rule_alone(entry.name).iter().map(conditional_action).collect(),
        SyscallFilterMode::ConfinedAndRecorded | SyscallFilterMode::PerformedAndRecorded => {
            let allowed = |case: &SyscallCase| {
                let both = |SyscallCase(tests, action): &SyscallCase| ([case.0, tests].concat(), *action);
                record.iter().filter(|_| case.1 == SyscallAction::Allow).map(both).collect::<Vec<_>>()
            };
            let confined = rule.iter().flat_map(|case| allowed(case).into_iter().chain([conditional_action(case)]));
            confined.chain(record.iter().map(conditional_action)).collect()
        }
    }
}

/// Returns the instructions for all decisions about a call. The accumulator has no known value at the start.
fn action_block(cases: &[ConditionalAction], variant: SyscallFilterMode) -> Vec<BpfInstruction> {
    let mut block = Vec::new();
    for (tests, action) in cases {
        let end = step(RETURN, action_code(*action, variant.has_listener()));
        let tests: Vec<Vec<BpfInstruction>> = tests.iter().map(|test| instructions(*test)).collect();
        let length = tests.iter().map(Vec::len).sum::<usize>();
        let mut left = length + 1;
        for test in tests {
            for mut instruction in test {
                left -= 1;
                // A comparison that fails goes on with the next case.
                if matches!(instruction.code, EQUAL | ANY_BIT) {
                    instruction.no = u8::try_from(left).expect("cases are short");
                }
                block.push(instruction);
            }
        }
        block.push(end);
        if length == 0 {
            // The other cases are never reached.
            return block;
        }
    }
    block.push(step(RETURN, ALLOW));
    block
}

fn instructions(test: RegisterTest) -> Vec<BpfInstruction> {
    match test {
        RegisterTest::Always => Vec::new(),
        RegisterTest::AtCurrent => vec![step(LOAD, lower_half_offset(0)), step(EQUAL, AT_FDCWD)],
        RegisterTest::Bits(argument, mask) => vec![step(LOAD, lower_half_offset(argument)), step(ANY_BIT, mask)],
        RegisterTest::Is(argument, value) => vec![step(LOAD, lower_half_offset(argument)), step(EQUAL, value)],
        RegisterTest::Masked(argument, mask, value) => {
            vec![step(LOAD, lower_half_offset(argument)), step(AND, mask), step(EQUAL, value)]
        }
        RegisterTest::Null(argument) => {
            vec![
                step(LOAD, lower_half_offset(argument)),
                step(EQUAL, 0),
                step(LOAD, lower_half_offset(argument) + 4),
                step(EQUAL, 0),
            ]
        }
    }
}

fn action_code(action: SyscallAction, listener: bool) -> u32 {
    match action {
        SyscallAction::Allow => ALLOW,
        SyscallAction::Refuse(errno) => ERRNO | u32::from(errno),
        SyscallAction::Deny if listener => NOTIFY,
        SyscallAction::Deny => ERRNO | EPERM,
        SyscallAction::Ask if listener => NOTIFY,
        SyscallAction::Ask => ALLOW,
    }
}
