// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation

/// What a process of its own does with its streams: the program of these tests, as `CaptureProcessTests` has it.
struct CaptureProcess {
    /// What it does once its streams are captured, unless it says otherwise.
    enum Scenario: String, CaseIterable {
        /// Writes by every way, and ends right behind.
        case exits
        case traps, aborts, isTerminated
        /// Writes to both streams by turns.
        case alternates
        /// Ends the capture, and begins another one.
        case endsAndBegins
        /// Has other programs write, one of which goes on behind the end of the capture.
        case hasChildren
        /// Standard output is closed.
        case isClosed
        /// Who read standard output has gone.
        case isUnread
        /// Who reads standard output does so late, and it doesn't block.
        case isFull
        /// Another console wants the streams, too.
        case wantsTwice
        /// A line isn't ended.
        case prompts
        /// The process has no descriptors left.
        case lacksDescriptors
    }

    /// The variable that says what is to be done, and the one for the folder.
    static let variable = "DUPLEX_TEST_CAPTURE"
    static let folderVariable = "DUPLEX_TEST_CAPTURE_FOLDER"

    /// The exit status, or the number of the signal that ended it.
    let status: Int32
    /// What has reached standard output and standard error.
    let output: String
    let errors: String
    /// What the console had, a line each, with its kind in front.
    let seen: [String]

    /// Runs a scenario to its end.
    init(_ scenario: Scenario, environment: [String: String] = [:]) async throws {
        (status, output, errors, seen) = try await withTestFolder { folder in
            let process = SpawnedProcess()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["--testing-library", "swift-testing", "--filter", "CaptureProcessTests/runs"]
            let own = [Self.variable: scenario.rawValue, Self.folderVariable: folder, "SWIFT_BACKTRACE": "enable=no"]
            process.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }.merging(environment) { $1 }
            let (ends, end) = AsyncStream<Int32>.makeStream()
            process.terminationHandler = { end.yield($0.terminationStatus) }
            try process.run()
            // A process that hangs fails its test, and ends with it.
            let limit = Task {
                try await Task.sleep(for: .seconds(45))
                process.signal(SIGKILL)
            }
            defer { limit.cancel() }
            let status = await ends.first { _ in true } ?? -1
            func text(_ name: String) -> String {
                String(decoding: (try? Data(contentsOf: URL(fileURLWithPath: folder + name))) ?? Data(), as: UTF8.self)
            }
            return (status, text("output"), text("errors"), text("seen").split(separator: "\n").map { String($0) })
        }
    }
}
