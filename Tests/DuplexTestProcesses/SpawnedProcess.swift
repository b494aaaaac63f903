// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A program that a test runs, with the names of Foundation's `Process`, which can't be used here.
///
/// That one tells the end of a program by a socket that the program inherits: one that closes what it inherits, such as
/// dnsmasq, is taken for ended, and then a single thread waits for it, on behalf of every other program. This one has a
/// thread for each, starts the program with no descriptor but its three streams, with no signal blocked, and as the
/// leader of a process group.
package final class SpawnedProcess: Sendable {
    /// It couldn't be started.
    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    private struct State {
        var executableURL: URL?
        var arguments: [String] = []
        var environment: [String: String]?
        var streams: [Stream] = [.none, .none, .none]
        var terminationHandler: (@Sendable (SpawnedProcess) -> Void)?
        var identifier: pid_t = 0
        var status: Int32?
        /// Whether its end was collected, and its number may be somebody else's.
        var isCollected = false
    }

    /// Where a program reads from or writes to.
    package enum Stream: Sendable {
        /// Nothing to read, and what is written is thrown away.
        case none
        /// The program's end is closed on this side once it has started.
        case pipe(Pipe)
        case handle(FileHandle)
    }

    private let state = Mutex(State())

    package init() {}

    package var executableURL: URL? {
        get { state.withLock { $0.executableURL } }
        set { state.withLock { $0.executableURL = newValue } }
    }

    package var arguments: [String] {
        get { state.withLock { $0.arguments } }
        set { state.withLock { $0.arguments = newValue } }
    }

    /// The variables of the program; those of the tests unless set.
    package var environment: [String: String]? {
        get { state.withLock { $0.environment } }
        set { state.withLock { $0.environment = newValue } }
    }

    package var standardInput: Stream {
        get { state.withLock { $0.streams[0] } }
        set { state.withLock { $0.streams[0] = newValue } }
    }

    package var standardOutput: Stream {
        get { state.withLock { $0.streams[1] } }
        set { state.withLock { $0.streams[1] = newValue } }
    }

    package var standardError: Stream {
        get { state.withLock { $0.streams[2] } }
        set { state.withLock { $0.streams[2] = newValue } }
    }

    /// Called on a thread of its own once the program has ended.
    package var terminationHandler: (@Sendable (SpawnedProcess) -> Void)? {
        get { state.withLock { $0.terminationHandler } }
        set { state.withLock { $0.terminationHandler = newValue } }
    }

    package var processIdentifier: pid_t { state.withLock { $0.identifier } }

    package var isRunning: Bool { state.withLock { $0.identifier != 0 && $0.status == nil } }

    /// What it ended with: its exit status, or the number of the signal that ended it; -1 before.
    package var terminationStatus: Int32 { state.withLock { $0.status ?? -1 } }

    /// Sends a signal, if it still runs.
    package func signal(_ number: Int32) {
        state.withLock { state in
            if state.identifier != 0 && !state.isCollected { kill(state.identifier, number) }
        }
    }

    /// Sends a signal to it and to what it has started.
    package func signalGroup(_ number: Int32) {
        state.withLock { state in
            if state.identifier != 0 && !state.isCollected { kill(-state.identifier, number) }
        }
    }

    /// Starts it.
    ///
    /// - Throws: ``Failed`` when the system can't.
    package func run() throws {
        let identifier = try state.withLock { state in
            let identifier = try Self.spawn(state)
            state.identifier = identifier
            return identifier
        }
        closeTheirEnds()
        Thread.detachNewThread { self.collect(identifier) }
    }

    private func collect(_ identifier: pid_t) {
        // Its number stays its own until the end is collected, under the lock that signals are sent under.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        let handler = state.withLock { state in
            var raw: Int32 = 0
            while unsafe waitpid(identifier, &raw, 0) < 0 && errno == EINTR {}
            state.isCollected = true
            state.status = raw & 0x7F == 0 ? raw >> 8 & 0xFF : raw & 0x7F
            return state.terminationHandler
        }
        handler?(self)
    }

    private func closeTheirEnds() {
        for (number, stream) in state.withLock({ $0.streams }).enumerated() {
            guard case .pipe(let pipe) = stream else { continue }
            try? (number == 0 ? pipe.fileHandleForReading : pipe.fileHandleForWriting).close()
        }
    }

    // MARK: posix_spawn(3)

    private static func spawn(_ state: borrowing State) throws -> pid_t {
        guard let path = state.executableURL?.path(percentEncoded: false) else {
            throw Failed(description: "There is no program to start.")
        }
        #if canImport(Glibc)
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        for (number, stream) in state.streams.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor(of: stream, number) ?? null, Int32(number))
        }
        var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        #if canImport(Glibc)
        // Declared only for those who ask for GNU's extensions, which Swift's module doesn't.
        typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        if let symbol = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") {
            _ = unsafe unsafeBitCast(symbol, to: CloseFrom.self)(&actions, 3)
        }
        #else
        flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
        #endif
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        var pipes = none
        unsafe sigaddset(&pipes, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &pipes)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        let variables = (state.environment ?? ProcessInfo.processInfo.environment).map { "\($0.key)=\($0.value)" }
        var identifier: pid_t = 0
        let code = unsafe withCStrings([path] + state.arguments) { arguments in
            unsafe withCStrings(variables) { variables in
                unsafe posix_spawn(&identifier, path, &actions, &attributes, arguments, variables)
            }
        }
        guard code == 0 else { throw Failed(description: "\(path) can't be started: errno \(code).") }
        return identifier
    }

    private static func descriptor(of stream: Stream, _ number: Int) -> Int32? {
        switch stream {
        case .none: nil
        case .handle(let handle): handle.fileDescriptor
        case .pipe(let pipe): (number == 0 ? pipe.fileHandleForReading : pipe.fileHandleForWriting).fileDescriptor
        }
    }

    /// Lends an array of C strings that ends with a null pointer.
    private static func withCStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = unsafe strings.map { unsafe strdup($0) }
        defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
        return unsafe body(unsafe copies + [nil])
    }
}
