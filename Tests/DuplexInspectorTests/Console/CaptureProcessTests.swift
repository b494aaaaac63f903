// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexInspector

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Writes, in the processes that other tests start; otherwise there is nothing to do.
@Suite("Streams of a process of its own")
struct CaptureProcessTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let wanted = environment[CaptureProcess.variable].flatMap { CaptureProcess.Scenario(rawValue: $0) }
    private static let folder = environment[CaptureProcess.folderVariable] ?? "/nonexistent/"

    @Test("Does what a scenario says", .enabled(if: wanted != nil, "Other tests start it."))
    func runs() async throws {
        let scenario = try #require(Self.wanted)
        let console = InspectorConsole()
        Self.lead(1, to: "output")
        Self.lead(2, to: "errors")
        try Self.prepare(scenario)
        try console.captureStreams()
        try Self.act(scenario, console)
        console.endCapture()
        Self.note(console)
        exit(0)
    }

    /// What has standard output, where it is read late.
    private static let late = Pipe()

    /// Leads a stream into a file, away from what the tests print.
    private static func lead(_ stream: Int32, to name: String) {
        fflush(nil)
        let file = unsafe open(folder + name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
        dup2(file, stream)
        close(file)
    }

    private static func prepare(_ scenario: CaptureProcess.Scenario) throws {
        switch scenario {
        case .alternates: dup2(1, 2)
        case .isClosed: close(1)
        case .isUnread:
            let pipe = Pipe()
            dup2(pipe.fileHandleForWriting.fileDescriptor, 1)
            try pipe.fileHandleForReading.close()
            try pipe.fileHandleForWriting.close()
            signal(SIGPIPE, SIG_IGN)
        case .isFull:
            dup2(late.fileHandleForWriting.fileDescriptor, 1)
            try late.fileHandleForWriting.close()
            _ = fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK)
        default: break
        }
    }

    private static func act(_ scenario: CaptureProcess.Scenario, _ console: InspectorConsole) throws {
        switch scenario {
        case .exits: writeByEveryWay()
        case .traps, .aborts, .isTerminated: end(scenario)
        case .alternates: for number in 0..<2_000 { write(number % 2 == 0 ? 1 : 2, "\(number)\n") }
        case .endsAndBegins:
            print("one")
            console.endCapture()
            print("two")
            try console.captureStreams()
            print("three")
        case .hasChildren:
            let child = SpawnedProcess()
            child.executableURL = URL(fileURLWithPath: "/bin/sh")
            child.arguments = ["-c", "echo early; read line; echo late; echo last >&2"]
            let input = Pipe()
            child.standardInput = .pipe(input)
            child.standardOutput = .handle(.standardOutput)
            child.standardError = .handle(.standardError)
            try child.run()
            try wait(for: "early", in: console)
            console.endCapture()
            try input.fileHandleForWriting.write(contentsOf: Data("go\n".utf8))
            try wait(for: "late", in: console)
            try wait(for: "last", in: console)
        case .isClosed, .isUnread: print("heard")
        case .isFull: try writeBeyondWhatFits(console)
        case .wantsTwice:
            let second = #expect(throws: (any Error).self) { try InspectorConsole().captureStreams() }
            print(second.map { "\($0)" } ?? "")
        case .prompts:
            print("Password: ", terminator: "")
            fflush(nil)
            try wait(for: "Password: ", in: console)
            print("thanks")
        case .lacksDescriptors: try useUpDescriptors(console)
        }
    }

    /// Writes where no descriptor is left, and has streams captured with ever more of them.
    private static func useUpDescriptors(_ console: InspectorConsole) throws {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        _ = unsafe getrlimit(resource, &limit)
        // More than it may have inherited.
        limit.rlim_cur = min(limit.rlim_max, 20_000)
        _ = unsafe setrlimit(resource, &limit)
        var held: [Int32] = []
        while case let one = unsafe open("/dev/null", O_RDONLY), one >= 0 { held.append(one) }
        for number in 0..<1_000 { print("without \(number)") }
        console.endCapture()
        for free in 0...16 {
            do {
                try captureOnceFree(console)
                print("captured with \(free)")
                console.endCapture()
            } catch {
                print("refused with \(free)")
            }
            if let one = held.popLast() { close(one) }
        }
        for one in held { close(one) }
    }

    /// Has the streams captured once those that have read them before have noticed their end, which nobody tells; the whole
    /// process has a deadline.
    private static func captureOnceFree(_ console: InspectorConsole) throws {
        while true {
            do { return try console.captureStreams() } catch {
                guard error.errno == EBUSY else { throw error }
                usleep(1_000)
            }
        }
    }

    /// Ends the process behind so much that most of it is still in the pipe; nothing of it may be lost.
    private static func end(_ scenario: CaptureProcess.Scenario) {
        for number in 0..<1_000 { print("line \(number)") }
        switch scenario {
        case .traps: fatalError("the last word")
        case .aborts: abort()
        default:
            kill(getpid(), SIGTERM)
            while true { pause() }
        }
    }

    /// Writes more than two pipes hold, whose reader begins once the writer has to wait, and ends with the last byte.
    private static func writeBeyondWhatFits(_ console: InspectorConsole) throws {
        let count = 5_000
        Thread.detachNewThread {
            for number in 0..<count { write(1, "\(number) \(String(repeating: "x", count: 90))\n") }
        }
        try wait(for: "100 \(String(repeating: "x", count: 90))", in: console)
        var read = Data()
        while !read.hasSuffix("x\n", behind: "\(count - 1) ") {
            read += late.fileHandleForReading.availableData
        }
        try read.write(to: URL(fileURLWithPath: folder + "output"))
    }

    private static func writeByEveryWay() {
        print("printed")
        write(1, String(repeating: "x", count: 200_000) + "\n")
        write(2, "an error\n")
        // What isn't ended, and still is with stdio at the end.
        print("the end", terminator: "")
        exit(3)
    }

    private static func write(_ descriptor: Int32, _ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits for a line in the console; the whole process has a deadline.
    private static func wait(for text: String, in console: InspectorConsole) throws {
        while !console.entries.all.contains(where: { $0.text == text }) { usleep(1_000) }
    }

    private static func note(_ console: InspectorConsole) {
        let lines = console.entries.all.map { "\($0.kind.rawValue)\($0.isCut ? "+" : "") \($0.text)" }
        try? lines.joined(separator: "\n").write(toFile: folder + "seen", atomically: false, encoding: .utf8)
    }
}

extension Data {
    /// Whether its last line begins and ends so.
    fileprivate func hasSuffix(_ end: String, behind beginning: String) -> Bool {
        let line = suffix(100).split(separator: 0x0A).last.map { String(decoding: $0, as: UTF8.self) + "\n" } ?? ""
        return last == 0x0A && line.hasPrefix(beginning) && line.hasSuffix(end)
    }
}
