// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// Continuous integration, where a test fails that would be skipped elsewhere because a program or a right is missing.
package enum Integration {
    package static let isOn = ProcessInfo.processInfo.environment["CI"] == "true"

    /// Whether the program is in the folders for programs, those for administrators among them; in continuous integration that
    /// is assumed, so that the test fails without it.
    package static func has(_ program: String) -> Bool {
        isOn
            || ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].contains {
                FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
            }
    }
}
