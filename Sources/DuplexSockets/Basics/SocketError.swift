// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What went wrong below the protocols: in the system, in the network, or in how a socket was used.
public struct SocketError: Error, Sendable {
    /// The kinds of errors; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// The system refused something: descriptors, threads, memory or a permission.
        case system
        /// The address can't be bound: it is taken, not of this machine, or not allowed.
        case cannotBind
        /// A host name has no address.
        case unknownHost
        /// The name service didn't answer, or couldn't: the host may have an address all the same.
        case nameServiceFailed
        /// Nothing listens at the address, or it can't be reached.
        case cannotConnect
        /// An operation took longer than its timeout.
        case timedOut
        /// The peer reset the connection, or the network lost it.
        case connectionReset
        /// The stream ended before all requested bytes had arrived.
        case endOfStream
        /// This side has closed the socket.
        case closed
        /// More bytes came than a read allows, such as without a delimiter within its limit; or a datagram is too large
        /// to be sent.
        case limitExceeded
        /// A file that was to be written can't be opened or read, or is shorter than announced.
        case unreadableFile
        /// There is a file of that name already.
        case fileExists
        /// A file can't get a name on another file system than the one that it is on.
        case otherFileSystem
        /// A text that was read isn't UTF-8.
        case invalidUTF8
        /// A text isn't an IP address.
        case invalidAddress
        /// Options contradict one another, or a number in them is out of range.
        case invalidOptions
        /// An argument of a call is out of range, such as a negative length; or a duration, also one of the options, isn't
        /// longer than zero.
        case invalidArgument
        /// A file or bytes that should be a certificate or a private key are none, or don't fit together.
        case invalidCertificate
        /// The peer's certificate isn't trusted: it has expired, is for another name, or comes from nobody known.
        case untrustedPeer
        /// A TLS handshake or a secured connection has failed for another reason.
        case tls
        /// A secured stream ended without close_notify: somebody may have cut it short.
        case truncated
        /// A proxy didn't make the connection: it refused, or couldn't, or doesn't speak the expected protocol.
        case proxyRefused
        /// The event loop of the socket has been stopped.
        case loopStopped
    }

    /// The kind of error, for programs.
    public var code: Code
    /// What happened, for people: one or two sentences.
    public var message: String
    /// The system's error number, where a system call failed.
    public var errno: Int32?
    /// The errors that led to this one: for a connection, one for each address that was tried.
    public var causes: [SocketError]
    /// What was tried, and when, for a connection that could not be made.
    public var timeline: ConnectTimeline?
    /// What to try next, in plain words; `nil` if nothing is known.
    public var hint: String?
    /// What the proxy said, where it is ``Code/proxyRefused``.
    package var proxyFailure: (any Error)?
    /// Whether it was a proxy that couldn't be reached, so that another one may do.
    var isProxyUnreachable = false
    /// How long that a host is unknown may be remembered; `nil` where the source doesn't say, and for every other error.
    package var timeToLive: Duration?

    /// Makes an error.
    public init(_ code: Code, message: String, errno: Int32? = nil, causes: [SocketError] = []) {
        self.code = code
        self.message = message
        self.errno = errno
        self.causes = causes
    }

    /// What an argument that is out of range is answered by.
    package static func invalidArgument(_ message: String) -> SocketError {
        SocketError(.invalidArgument, message: message)
    }

    /// Refuses durations that can't be used; see ``DurationSetting``.
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidArgument``.
    package static func check(_ durations: [DurationSetting]) throws(SocketError) {
        if let fault = durations.fault { throw .invalidArgument(fault) }
    }

    /// Refuses the timeout of a call.
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidArgument``.
    package static func check(timeout: Duration?) throws(SocketError) {
        // Called by each read and write: nothing is made for those that may be.
        guard let timeout, timeout <= .zero else { return }
        let fault = DurationSetting("timeout", optional: timeout).fault ?? ""
        throw .invalidArgument("\(fault) It is what CocoaAsyncSocket writes as -1.")
    }

    // MARK: Errors of the system

    /// Whether a disk, or somebody's share of it, is full.
    package var isOutOfSpace: Bool { errno == ENOSPC || errno == EDQUOT }

    /// Whether the process, or the system, has no descriptor to give.
    package var isOutOfDescriptors: Bool { errno == EMFILE || errno == ENFILE }

    /// An error of the system; where a limit is behind it, the message names the limit.
    static func system(_ message: String, errno code: Int32) -> SocketError {
        let limit = limit(behind: code)
        return SocketError(.system, message: limit.map { "\(message) \($0)" } ?? message, errno: code)
    }

    /// Which limit an error number is about, as a sentence; `nil` when it is about none.
    static func limit(behind code: Int32) -> String? {
        switch code {
        case EMFILE:
            guard let most = mostDescriptors else { return nil }
            return "This process may have \(most) descriptors open at once (RLIMIT_NOFILE, ulimit -n)."
        case ENFILE: return "All processes together have as many files open as the system allows."
        default: return nil
        }
    }

    /// How many descriptors this process may have (RLIMIT_NOFILE).
    static var mostDescriptors: UInt64? {
        var limit = rlimit()
        #if canImport(Glibc)
        let code = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
        let code = unsafe getrlimit(RLIMIT_NOFILE, &limit)
        #endif
        return code == 0 ? UInt64(limit.rlim_cur) : nil
    }
}

extension SocketError: CustomStringConvertible {
    /// The code, the message, what the system says of it, and the causes and the hint, each on a line of its own.
    public var description: String {
        var text = "SocketError.\(code): \(message)"
        if let errno { text += " (\(Self.text(of: errno)))" }
        for cause in causes {
            text += "\n  " + cause.description.replacing("\n", with: "\n  ")
        }
        if let hint { text += "\n  hint: \(hint)" }
        return text
    }

    /// The system's words for an error number.
    package static func text(of errno: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe strerror_r(errno, &buffer, buffer.count) == 0 else { return "errno \(errno)" }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? "errno \(errno)" : "\(String(decoding: bytes, as: UTF8.self)), errno \(errno)"
    }
}
