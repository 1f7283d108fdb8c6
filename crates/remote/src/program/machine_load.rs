//! How busy this machine is.

use crate::messages::MachineLoad;

/// Measures how busy this machine is. What cannot be read is 0.
pub fn measure_load() -> MachineLoad {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    MachineLoad {
        hundredths: load_average(&read("/proc/loadavg")).unwrap_or(0),
        memory_free: memory_available(&read("/proc/meminfo")).unwrap_or(0),
    }
}

/// Returns the first average of `/proc/loadavg`, which has two decimals, in hundredths.
fn load_average(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split(' ').next()?.split_once('.')?;
    whole.parse::<u32>().ok()?.checked_mul(100)?.checked_add(decimals.get(..2)?.parse().ok()?)
}

/// Returns `MemAvailable` of `/proc/meminfo`, bytes.
fn memory_available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_kernel_are_read_and_others_are_not_known() {
        assert_eq!(load_average("12.34 0.50 0.10 3/512 77\n"), Some(1_234));
        assert_eq!(load_average("0.05 0.01 0.00 1/99 7\n"), Some(5));
        assert_eq!(memory_available("MemTotal:  9 kB\nMemAvailable:    2048 kB\n"), Some(2_097_152));
        for garbage in ["", "x", "1", "1.2", "-1.00 ", "99999999.00 "] {
            assert_eq!((load_average(garbage), memory_available(garbage)), (None, None), "{garbage}");
        }
        assert_ne!(measure_load().memory_free, 0);
    }
}
