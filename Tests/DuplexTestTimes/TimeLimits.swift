// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
package import Testing

/// By how much each limit of time in the tests is longer than it says: the variable `DUPLEX_TEST_TIME_FACTOR`, from 1 to 100.
///
/// `scripts/more/sanitize` sets it, since instrumented builds take several times as long.
private let factor: Int = {
    let text = ProcessInfo.processInfo.environment["DUPLEX_TEST_TIME_FACTOR"]
    return min(max(text.flatMap { Int($0) } ?? 1, 1), 100)
}()

extension Duration {
    /// For how long a test waits for what comes at once on a machine that has nothing else to do.
    ///
    /// It is for waits that end before. Durations that a test is about stay as they are.
    package static func limit(seconds: Int) -> Duration { .seconds(seconds * factor) }
}

extension Trait where Self == TimeLimitTrait {
    /// The time that each case of a test has.
    package static func timeLimit(minutes: Int) -> TimeLimitTrait { .timeLimit(.minutes(minutes * factor)) }
}
