//! Times as JSON has them.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_A_DAY: u64 = 24 * 60 * 60;

/// A time in RFC 3339, in UTC with seconds.
pub fn seconds(at: SystemTime) -> String {
    format!("{}Z", without_zone(at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()))
}

/// The same with milliseconds.
pub fn milliseconds(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}.{:03}Z", without_zone(since.as_secs()), since.subsec_millis())
}

fn without_zone(since: u64) -> String {
    let (year, month, day) = date(since / SECONDS_A_DAY);
    let (hour, minute, second) = (since / 3600 % 24, since / 60 % 60, since % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// The date so many days after the first one of 1970, in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    /// Days from the first of March of the year 0 to the first of January of 1970.
    const BEFORE_1970: u64 = 719_468;
    /// 400 years have these days, and repeat.
    const OF_400_YEARS: u64 = 146_097;
    let since = days + BEFORE_1970;
    let of_these = since % OF_400_YEARS;
    // Years begin with March here: the day that some have is then their last one.
    let year = (of_these - of_these / 1460 + of_these / 36_524 - of_these / 146_096) / 365;
    let day_of_year = of_these - (365 * year + year / 4 - year / 100);
    // Months from March on have 153 days in five.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let of_january = u64::from(month >= 10);
    (since / OF_400_YEARS * 400 + year + of_january, month + 3 - 12 * of_january, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_those_of_date() {
        for (since, told) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(seconds(UNIX_EPOCH + Duration::from_secs(since)), told);
            let later = UNIX_EPOCH + Duration::from_secs(since) + Duration::from_micros(41_900);
            assert_eq!(milliseconds(later), told.replace('Z', ".041Z"));
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut last = date(0);
        for days in 1..200_000 {
            let (year, month, day) = date(days);
            let follows = (year, month, day) == (last.0, last.1, last.2 + 1)
                || (year, month, day) == (last.0, last.1 + 1, 1)
                || (year, month, day) == (last.0 + 1, 1, 1) && last.1 == 12 && last.2 == 31;
            assert!(follows && day <= 31 && month <= 12, "{days}: {year}-{month}-{day}");
            last = (year, month, day);
        }
    }
}
