// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Options of a socket; a value that is `nil` stays as the system has it.
///
/// Pass it to the call that makes a socket, so that it applies from the first packet on, or set later with
/// ``Socket/setOptions(_:)``. What is missing here can be reached through ``Socket/withDescriptor(_:)``.
public struct SocketOptions: Sendable, Hashable {
    /// Whether small writes go out at once instead of being gathered by the system (`TCP_NODELAY`).
    ///
    /// Default: yes.
    ///
    /// Ignored by sockets that aren't TCP.
    public var noDelay: Bool? = true
    /// Whether the system probes a silent peer (`SO_KEEPALIVE`).
    public var keepalive: Keepalive?
    /// What closing does with bytes that the system hasn't delivered yet (`SO_LINGER`).
    public var linger: Linger?
    /// The size of the system's buffer for what is to be sent, in bytes (`SO_SNDBUF`).
    ///
    /// Linux doubles the value, for its own needs, and reads the double back; it cuts values above `net.core.wmem_max`.
    public var sendBufferSize: Int?
    /// The size of the system's buffer for what has arrived, in bytes (`SO_RCVBUF`); as in ``sendBufferSize``.
    ///
    /// Setting it ends the system's own adaption to a fast or distant peer. For TCP it has its full effect only before
    /// connecting or listening.
    public var receiveBufferSize: Int?
    /// The traffic class of what is sent: 6 bits of DSCP (RFC 2474) and 2 bits of ECN (`IP_TOS`, `IPV6_TCLASS`).
    ///
    /// TCP keeps the ECN bits to itself.
    public var trafficClass: UInt8?
    /// How long what was sent may stay unacknowledged before the connection is given up (`TCP_USER_TIMEOUT`, RFC 5482).
    ///
    /// In milliseconds, rounded up; zero for the system's own rule. Linux only.
    public var userTimeout: Duration?
    /// Whether the first bytes may go with the first packet (TCP Fast Open, RFC 7413).
    ///
    /// A client sets it before it connects (`TCP_FASTOPEN_CONNECT`, Linux only): to a server that it has talked to before,
    /// connecting then ends at once, and an error comes with the first read or write. What is sent so can arrive twice, so
    /// it must be harmless to repeat. On a listener (`TCP_FASTOPEN`) at most 256 connections wait half open.
    public var fastOpen: Bool?
    /// A number that goes with each packet inside this machine, for routing and filtering (`SO_MARK`).
    ///
    /// Linux only, and for those with `CAP_NET_ADMIN` or `CAP_NET_RAW`.
    public var mark: UInt32?
    /// The interface that alone is used, both ways, whatever the routes say (`SO_BINDTODEVICE`).
    ///
    /// Linux only. To take it back needs `CAP_NET_RAW`.
    public var boundDevice: String?

    /// Makes a value that sets nothing but ``noDelay``.
    public init() {}

    /// Whether, and how, the system probes a silent peer.
    @nonexhaustive
    public enum Keepalive: Sendable, Hashable {
        /// A silent peer is never probed.
        case off
        /// A silent peer is probed at the system's times, on Linux after two hours.
        case on
        /// A peer that has been silent for that long is probed, at an interval, and given up after a count of unanswered probes.
        ///
        /// Times are in seconds, rounded up. Default of the interval and the count: those of the system.
        case after(Duration, interval: Duration? = nil, count: Int? = nil)

        /// Whether it probes at all.
        package var isOn: Bool { self != .off }
        /// How long the peer has to be silent first; `nil` for the system's time.
        package var idle: Duration? { if case .after(let idle, _, _) = self { idle } else { nil } }
        /// The time between probes; `nil` for the system's time.
        package var interval: Duration? { if case .after(_, let interval, _) = self { interval } else { nil } }
        /// After how many unanswered probes the connection is given up; `nil` for the system's number.
        package var count: Int? { if case .after(_, _, let count) = self { count } else { nil } }
    }

    /// What closing does with bytes that the system hasn't delivered yet.
    ///
    /// Of interest only for what ``Socket/close()`` and ``Socket/reset()`` don't do by themselves.
    @nonexhaustive
    public enum Linger: Sendable, Hashable {
        /// Closing doesn't wait, and the system goes on delivering.
        case off
        /// Closing drops them and resets the connection.
        case reset
        /// Closing waits until they are delivered, and drops them after that time, in seconds, rounded up.
        ///
        /// > Warning: The thread of the event loop waits, and all its sockets with it.
        case wait(Duration)

        /// How long closing waits; `nil` when it doesn't wait and the system goes on delivering.
        var time: Duration? {
            switch self {
            case .off: nil
            case .reset: .zero
            case .wait(let time): max(time, .seconds(1))
            }
        }
        /// The time that was asked for, if closing can't wait for it.
        var refused: Duration? { if case .wait(let time) = self, time <= .zero { time } else { nil } }
    }
}

/// What a socket is for, as far as its options depend on it.
package enum SocketRole: Sendable {
    /// A stream that is, or will be, connected.
    case connection
    /// Listens for streams.
    case listener
    case datagrams
}

// MARK: Setting

extension SocketOptions {
    /// The durations that are set here.
    package var durations: [DurationSetting] {
        // Most have none, and each connection of a server asks.
        if userTimeout == nil && keepalive == nil && linger == nil { return [] }
        return [
            DurationSetting("userTimeout", optional: userTimeout, allowsZero: true),
            DurationSetting("keepalive.idle", optional: keepalive?.idle),
            DurationSetting("keepalive.interval", optional: keepalive?.interval),
            DurationSetting("linger", optional: linger?.refused),
        ]
    }

    /// How many connections may wait half open on a listener with fast open.
    private static let fastOpenQueue: Int32 = 256

    /// Sets what isn't `nil`.
    ///
    /// What was set before one option is refused stays set.
    ///
    /// - Parameters:
    ///   - descriptor: the socket; for ``fastOpen`` and the buffer sizes before it connects or listens.
    ///   - family: the family that it was made for.
    ///   - role: what it is for.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system`` that names the option that was refused, and with
    ///   ``SocketError/Code/invalidArgument`` for a duration.
    package func apply(
        to descriptor: Int32,
        family: AddressFamily,
        as role: SocketRole = .connection
    ) throws(SocketError) {
        try SocketError.check(durations)
        if let noDelay, role != .datagrams, family != .unix { try SystemOption.noDelay.set(noDelay, on: descriptor) }
        if let keepalive { try apply(keepalive, to: descriptor) }
        if let linger { try SystemOption.lingering.setLinger(linger.time.map(Self.seconds), on: descriptor) }
        if let sendBufferSize { try SystemOption.sendBuffer.set(Int32(clamping: sendBufferSize), on: descriptor) }
        if let receiveBufferSize {
            try SystemOption.receiveBuffer.set(Int32(clamping: receiveBufferSize), on: descriptor)
        }
        if let trafficClass { try apply(trafficClass: trafficClass, to: descriptor, family) }
        if let userTimeout { try SystemOption.userTimeout.set(Self.milliseconds(userTimeout), on: descriptor) }
        if let fastOpen {
            if role == .listener {
                try SystemOption.fastOpen.set(fastOpen ? Self.fastOpenQueue : 0, on: descriptor)
            } else {
                try SystemOption.fastOpenConnect.set(fastOpen, on: descriptor)
            }
        }
        if let mark { try SystemOption.mark.set(Int32(bitPattern: mark), on: descriptor) }
        if let boundDevice { try SystemOption.boundDevice.set(boundDevice, on: descriptor) }
    }

    private func apply(_ keepalive: Keepalive, to descriptor: Int32) throws(SocketError) {
        if let idle = keepalive.idle { try SystemOption.keepaliveIdle.set(Self.seconds(idle), on: descriptor) }
        if let interval = keepalive.interval {
            try SystemOption.keepaliveInterval.set(Self.seconds(interval), on: descriptor)
        }
        if let count = keepalive.count { try SystemOption.keepaliveCount.set(Int32(clamping: count), on: descriptor) }
        // Last, so that the system's two hours never begin.
        try SystemOption.keepalive.set(keepalive.isOn, on: descriptor)
    }

    private func apply(
        trafficClass: UInt8,
        to descriptor: Int32,
        _ family: AddressFamily
    ) throws(SocketError) {
        try Self.set(.trafficClass4, .trafficClass6, Int32(trafficClass), on: descriptor, family)
    }

    /// Sets an option that each family has for itself: on an IPv6 socket both, as it may talk over IPv4, too.
    static func set(
        _ ipv4: SystemOption,
        _ ipv6: SystemOption,
        _ value: Int32,
        on descriptor: Int32,
        _ family: AddressFamily
    ) throws(SocketError) {
        guard family == .ipv6 else { return try ipv4.set(value, on: descriptor) }
        try ipv6.set(value, on: descriptor)
        // Refused where IPv6 sockets know nothing of IPv4; then there is nothing to set.
        try? ipv4.set(value, on: descriptor)
    }

    private static func seconds(_ duration: Duration) -> Int32 {
        let (seconds, attoseconds) = duration.components
        return Int32(clamping: attoseconds > 0 ? seconds.addingReportingOverflow(1).partialValue : seconds)
    }

    private static func milliseconds(_ duration: Duration) -> Int32 {
        let (seconds, attoseconds) = duration.components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000)
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return isTooLong ? .max : Int32(clamping: whole.addingReportingOverflow(part).partialValue)
    }

    // MARK: Asking

    /// What the system says of a socket; `nil` for what its kind doesn't have, and for what can't be read.
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/system`` when the descriptor isn't a socket's.
    init(
        of descriptor: Int32,
        family: AddressFamily,
        as role: SocketRole = .connection
    ) throws(SocketError) {
        let isTCP = family != .unix && role != .datagrams
        noDelay = isTCP ? try SystemOption.noDelay.value(on: descriptor) != 0 : nil
        keepalive = try Self.keepalive(of: descriptor, isTCP)
        let lingerTime = try SystemOption.lingering.lingerTime(on: descriptor)
        linger = lingerTime.map { $0 == 0 ? .reset : .wait(.seconds($0)) } ?? .off
        sendBufferSize = Int(try SystemOption.sendBuffer.value(on: descriptor))
        receiveBufferSize = Int(try SystemOption.receiveBuffer.value(on: descriptor))
        switch family {
        case .ipv4: trafficClass = UInt8(clamping: try SystemOption.trafficClass4.value(on: descriptor))
        case .ipv6: trafficClass = UInt8(clamping: try SystemOption.trafficClass6.value(on: descriptor))
        default: trafficClass = nil
        }
        if isTCP {
            userTimeout = (try? SystemOption.userTimeout.value(on: descriptor)).map { .milliseconds($0) }
            let fastOpen: SystemOption = role == .listener ? .fastOpen : .fastOpenConnect
            self.fastOpen = (try? fastOpen.value(on: descriptor)).map { $0 != 0 }
        }
        mark = (try? SystemOption.mark.value(on: descriptor)).map { UInt32(bitPattern: $0) }
        boundDevice = try? SystemOption.boundDevice.text(on: descriptor)
    }

    private static func keepalive(of descriptor: Int32, _ isTCP: Bool) throws(SocketError) -> Keepalive {
        guard try SystemOption.keepalive.value(on: descriptor) != 0 else { return .off }
        guard isTCP else { return .on }
        return .after(
            .seconds(try SystemOption.keepaliveIdle.value(on: descriptor)),
            interval: .seconds(try SystemOption.keepaliveInterval.value(on: descriptor)),
            count: Int(try SystemOption.keepaliveCount.value(on: descriptor))
        )
    }
}
