// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import DuplexTestProcesses
import Glibc
import Synchronization

/// A network of two: this machine, and a network namespace that stands for another one.
///
/// Both have an IPv4 and an IPv6 address, a second IPv6 one, and a link-local one. What the far side does to packets is said in
/// rules of nft(8).
package struct TestNetwork: Sendable {
    /// Why no such network can be made here; `nil` where it can.
    ///
    /// Found out once, and said once.
    package static let obstacle = reason("Tests of networks are left out") { try TestNetwork() }

    /// The same for one whose packets take time.
    package static let obstacleToDelay =
        obstacle ?? reason("Tests of slow networks are left out") { try TestNetwork(delay: .zero) }

    private static func reason(_ consequence: String, _ make: () throws -> TestNetwork) -> String? {
        do {
            try make().withRules("") {}
            return nil
        } catch {
            let reason = "\(error)".split(separator: "\n").first.map(String.init) ?? ""
            // In continuous integration the tests fail where a program isn't there.
            if Integration.isOn && reason.contains("not found") { return nil }
            print("\(consequence): they can't be made here (\(reason)).")
            return reason
        }
    }

    /// How the two sides are known to each other.
    package enum Host: Sendable, CaseIterable {
        case ipv4
        case ipv6
        case secondIPv6
        case linkLocal
    }

    private static let count = Atomic<Int>(0)

    private let namespace: String
    /// The interface on this side.
    package let interface: String
    private let number: Int
    /// What the packets go through, where they are to take time.
    private let line: DelayLine?

    private init(delay: Duration? = nil) throws {
        number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        // Interfaces have at most 15 bytes.
        interface = "dx\(getpid())n\(number)"
        namespace = "duplex-\(getpid())-\(number)"
        let (near, far) = (interface, "dy\(getpid())n\(number)")
        line = try delay.map { try DelayLine($0, near: near, far: far) }
    }

    /// Runs `body` with a network of its own, which is taken away again.
    ///
    /// - Parameters:
    ///   - rules: what the far side does to the packets that come in: one rule of nft(8) for each line, with the family of
    ///     its table before it, such as `ip6 tcp dport 7 drop`.
    ///   - delay: how long each packet is on its way at least, either way; as long as the cable takes unless it is given.
    ///   - body: what to do with it.
    /// - Throws: what `body` throws, or what the tools say.
    /// - Returns: what `body` returns.
    package static func with<Result>(
        rules: String = "",
        delay: Duration? = nil,
        _ body: (TestNetwork) async throws -> Result
    ) async throws -> Result {
        let network = try TestNetwork(delay: delay)
        defer { network.remove() }
        try network.set(up: "")
        for host in Host.allCases { try network.waitForWay(to: host) }
        try network.add(rules: rules)
        return try await body(network)
    }

    private func withRules(_ rules: String, _ body: () throws -> Void) throws {
        defer { remove() }
        try set(up: rules)
        try body()
    }

    // MARK: Addresses

    /// The address of the far side, as a literal with a zone where it needs one.
    package func far(_ host: Host = .ipv4) -> String {
        literal(host, 2) + (host == .linkLocal ? "%\(interface)" : "")
    }

    /// The address of this side, as a literal without a zone.
    package func near(_ host: Host = .ipv4) -> String {
        literal(host, 1)
    }

    private func literal(_ host: Host, _ side: Int) -> String {
        // RFC 2544 and RFC 4193: addresses that nobody else has a way to. Tests of several processes may run side by side.
        let process = Int(getpid())
        return switch host {
        case .ipv4: "198.\(18 + process % 2).\(process / 2 % 256).\(number % 63 * 4 + side)"
        case .ipv6: "fdd9:\(String(process % 65_536, radix: 16)):\(String(number, radix: 16))::\(side)"
        case .secondIPv6: "fdd9:\(String(process % 65_536, radix: 16)):\(String(number, radix: 16))::1\(side)"
        case .linkLocal: "fe80::\(side)"
        }
    }

    private func set(up rules: String) throws {
        let addresses = { (side: Int, device: String) in
            """
            link set \(device) addrgenmode none
            link set \(device) up
            address add \(literal(.ipv4, side))/30 dev \(device)
            address add \(literal(.ipv6, side))/64 dev \(device) nodad
            address add \(literal(.secondIPv6, side))/64 dev \(device) nodad
            address add \(literal(.linkLocal, side))/64 dev \(device) nodad
            """
        }
        try Shell.run(
            """
            ip -batch - <<END
            netns add \(namespace)
            \(cable)
            \(addresses(1, interface))
            END
            ip -netns \(namespace) -batch - <<END
            link set lo up
            \(addresses(2, "far"))
            END
            """
        )
        try add(rules: rules)
    }

    private var cable: String {
        guard let line else { return "link add \(interface) type veth peer name far netns \(namespace)" }
        return "link set \(line.far) netns \(namespace) name far"
    }

    /// Waits until packets go to and fro: a link that was just made loses some, and then everything begins with a second's
    /// wait for TCP's next try.
    ///
    /// It may take long while the system takes other networks down.
    private func waitForWay(to host: Host) throws {
        let address = try SocketAddress(far(host), port: 9)
        let end = ContinuousClock.now.advanced(by: .seconds(40))
        var code: Int32 = 0
        repeat {
            // Another one each time, as TCP's own tries become ever rarer.
            code = try connectionError(at: address)
            if code == ECONNREFUSED { return }
        } while ContinuousClock.now < end
        throw Shell.Failure(description: "no way to \(address): errno \(code)")
    }

    /// What connecting ends with within a second.
    private func connectionError(at address: SocketAddress) throws -> Int32 {
        let descriptor = try SystemCalls.streamSocket(address.family)
        defer { SystemCalls.close(descriptor) }
        let code = SystemCalls.connect(descriptor, to: address)
        guard code == EINPROGRESS else { return code }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&entry, 1, 1_000) == 1 ? SystemCalls.pendingError(descriptor) : code
    }

    // MARK: Changing it

    /// Has the far side do more to the packets that come in; as of ``with(rules:delay:_:)``.
    package func add(rules: String) throws {
        var commands: [String] = []
        for family in ["ip", "ip6"] {
            commands.append("add table \(family) duplex")
            commands.append("add chain \(family) duplex in { type filter hook input priority 0; }")
        }
        for rule in rules.split(separator: "\n") {
            let words = rule.split(separator: " ", maxSplits: 1)
            commands.append("add rule \(words[0]) duplex in \(words[1])")
        }
        try Shell.run("ip netns exec \(namespace) nft -f - <<END\n\(commands.joined(separator: "\n"))\nEND")
    }

    /// Loses everything that goes over TCP, both ways.
    package func cut() throws {
        let chains = ["input", "output"].map { hook in
            """
            add chain inet duplex-cut \(hook) { type filter hook \(hook) priority 0; }
            add rule inet duplex-cut \(hook) meta l4proto tcp drop
            """
        }
        let commands = ["add table inet duplex-cut"] + chains
        try Shell.run("ip netns exec \(namespace) nft -f - <<END\n\(commands.joined(separator: "\n"))\nEND")
    }

    /// Takes all rules away, and mends what was cut.
    package func removeRules() throws {
        try Shell.run("ip netns exec \(namespace) nft flush ruleset")
    }

    /// Takes the interface of this side down.
    package func takeDown() throws {
        try Shell.run("ip link set \(interface) down")
    }

    /// Takes the interface of this side up again, with the IPv6 addresses that it lost when it went down.
    package func bringUp() throws {
        let addresses = [Host.ipv6, .secondIPv6, .linkLocal].map {
            "ip address replace \(literal($0, 1))/64 dev \(interface) nodad"
        }
        try Shell.run("ip link set \(interface) up\n\(addresses.joined(separator: "\n"))")
    }

    /// Gives the interface of this side another address, or takes it away; a literal with the length of its prefix.
    package func change(_ address: String, isAdded: Bool) throws {
        let isIPv6 = address.contains(":")
        let action = isAdded ? "add" : "delete"
        try Shell.run("ip address \(action) \(address) dev \(interface)\(isIPv6 && isAdded ? " nodad" : "")")
    }

    /// Adds a route to the near side's table, or takes it away.
    package func changeRoute(to network: String, isAdded: Bool) throws {
        try Shell.run("ip route \(isAdded ? "add" : "delete") \(network) dev \(interface)")
    }

    /// Sees to it that without the interface there is no way to the far side, rather than one that leads to nobody: then
    /// connecting fails at once.
    package func forbidOtherWays() throws {
        try Shell.run(ways.map { "ip route add unreachable \($0) metric 9999" }.joined(separator: "\n"))
    }

    private var ways: [String] {
        let process = Int(getpid())
        return [
            "198.\(18 + process % 2).\(process / 2 % 256).\(number % 63 * 4)/30",
            "fdd9:\(String(process % 65_536, radix: 16)):\(String(number, radix: 16))::/64",
        ]
    }

    private func remove() {
        line?.stop()
        for way in ways { _ = try? Shell.run("ip route delete unreachable \(way) metric 9999") }
        // The interfaces first: sockets that are still open keep the namespace alive, and both with it.
        _ = try? Shell.run("ip link delete \(interface) || true; ip netns delete \(namespace)")
    }

    // MARK: The far side

    /// What a command line has to begin with, for a program that is to run on the far side.
    package var farCommand: [String] { ["ip", "netns", "exec", namespace] }

    /// A descriptor that listens in the namespace, on all of its addresses.
    ///
    /// A socket belongs to the namespace that its thread was in when it was made, whoever uses it later.
    package func listen() throws -> (descriptor: Int32, port: Int) {
        try NetworkNamespace(path: "/run/netns/\(namespace)").run {
            let descriptor = try SystemCalls.streamSocket(.ipv6)
            _ = SystemCalls.setOption(descriptor, level: Int32(IPPROTO_IPV6), name: IPV6_V6ONLY, 0)
            let any = try SocketAddress("::", port: 0).systemBytes
            let code = unsafe any.withUnsafeBytes { bytes in
                unsafe bytes.withMemoryRebound(to: sockaddr.self) { address in
                    unsafe bind(descriptor, address.baseAddress, socklen_t(any.count))
                }
            }
            guard code == 0, Glibc.listen(descriptor, 16) == 0, let address = SocketAddress.local(of: descriptor) else {
                throw Shell.Failure(description: "listen: errno \(errno)")
            }
            return (descriptor, address.port)
        }
    }
}
#endif
