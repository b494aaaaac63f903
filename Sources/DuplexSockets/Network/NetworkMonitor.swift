// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Reports changes of this machine's network: interfaces, addresses, routes.
///
/// On Linux the kernel is listened to by a netlink socket (rtnetlink(7)), on an event loop; nothing is asked again and
/// again. On other systems making one throws, for now. What is watched is the network namespace of the thread that makes
/// the monitor.
///
/// ```swift
/// for try await change in try NetworkMonitor.shared().changes { print(change) }
/// ```
///
/// A change doesn't mean that a peer can be reached: try.
public final class NetworkMonitor: Sendable {
    private let loop: EventLoop
    private let listeners = NetworkListeners()
    private let watcher: LoopBound<NetlinkWatcher>

    private static let sharedResult: Result<NetworkMonitor, SocketError> = Result { () throws(SocketError) in
        try NetworkMonitor()
    }

    /// One for the whole process, started when first asked for and never stopped.
    ///
    /// - Returns: the monitor.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system`` if the system can't be listened to, each time the same.
    public static func shared() throws(SocketError) -> NetworkMonitor {
        try sharedResult.get()
    }

    /// Begins to watch; changes from here on are reported.
    ///
    /// - Parameter group: the loops of which one listens to the kernel.
    /// - Throws: ``SocketError`` with ``SocketError/Code/system`` when the kernel doesn't let itself be listened to, or the
    ///   system has nothing of the kind.
    package convenience init(on group: EventLoopGroup = .shared) throws(SocketError) {
        self.init(try NetlinkSocket.open(), on: group.next())
    }

    /// Watches by a socket that was made elsewhere, such as in another namespace; it is closed at the end.
    init(_ descriptor: Int32, on loop: EventLoop) {
        self.loop = loop
        watcher = LoopBound(NetlinkWatcher(descriptor, listeners), on: loop.thread)
        loop.execute { [watcher] core in watcher.value.start(core) }
    }

    deinit {
        Self.stop(watcher, loop, listeners)
    }

    /// Ends the sequences of changes; nothing is watched any more.
    package func stop() {
        Self.stop(watcher, loop, listeners)
    }

    private static func stop(_ watcher: LoopBound<NetlinkWatcher>, _ loop: EventLoop, _ listeners: NetworkListeners) {
        listeners.end(nil)
        loop.execute { _ in watcher.value.close() }
    }

    /// The changes from now on; each sequence gets all of them.
    ///
    /// Up to 256 changes wait for a reader; a change that waits already moves to the end instead of waiting twice. Beyond
    /// that all become one ``NetworkChange/missed``. A sequence ends when the monitor is stopped; it throws ``SocketError``
    /// when the monitor can't go on, such as with ``SocketError/Code/loopStopped``, and `CancellationError`. If several tasks
    /// read one sequence, each change goes to one of them.
    public var changes: some AsyncSequence<NetworkChange, any Error> & Sendable {
        let queue = NetworkChangeQueue()
        listeners.add(queue)
        return NetworkChanges(queue: queue, monitor: self)
    }

    /// Adds a listener for changes; it isn't kept alive by that.
    func tell(_ listener: any NetworkListener) {
        listeners.add(listener)
    }
}

/// Listens to the kernel, on a loop.
final class NetlinkWatcher: DescriptorHandler {
    private var descriptor: Int32
    private let listeners: NetworkListeners
    private var tracker = NetworkTracker()
    private var core: LoopCore?
    private let port: UInt32
    /// Until when the kernel may say late what the first list has already; nil after that.
    private var settles: Instant?

    /// So many datagrams are taken in a turn; what is left waits for the next.
    private static let batch = 16
    /// How late the kernel may be: it checks IPv6 addresses on a thread of its own.
    private static let lateness = Duration.seconds(5)

    /// Takes the descriptor over, and closes it at the end.
    init(_ descriptor: Int32, _ listeners: NetworkListeners) {
        self.descriptor = descriptor
        self.listeners = listeners
        port = NetlinkSocket.port(descriptor)
    }

    func start(_ core: LoopCore) {
        guard descriptor >= 0 else { return }
        do throws(SocketError) {
            try core.watch(descriptor, for: .readable, handler: self)
            self.core = core
            settles = core.now.advanced(by: Self.lateness)
            listeners.tell(ask(tracker.begin()))
        } catch {
            end(error)
        }
    }

    func ready(_ readiness: Readiness) {
        if let settles, let core, core.now >= settles {
            self.settles = nil
            tracker.settle()
        }
        var changes: [NetworkChange] = []
        for _ in 0..<Self.batch {
            switch NetlinkSocket.receive(descriptor) {
            case .nothing:
                listeners.tell(changes)
                return
            case .bytes(let bytes):
                let (messages, isWhole) = NetlinkParser.messages(in: bytes, port: port)
                for message in messages { changes += act(on: tracker.take(message)) }
                if !isWhole { changes += act(on: tracker.overrun()) }
            case .overrun: changes += act(on: tracker.overrun())
            case .failed(let code):
                listeners.tell(changes)
                end(SocketError(.system, message: "Changes of the network can't be watched any more.", errno: code))
                return
            }
        }
        listeners.tell(changes)
    }

    private func act(on output: NetworkTracker.Output) -> [NetworkChange] {
        guard let request = output.request else { return output.changes }
        return output.changes + ask(request)
    }

    private func ask(_ request: NetworkTracker.Request) -> [NetworkChange] {
        // The socket's buffer takes a request at any time; were it refused, changes are still reported as they come.
        NetlinkSocket.ask(request, descriptor) ? [] : tracker.notAsked()
    }

    func loopStopped() {
        end(SocketError(.loopStopped, message: "The event loop was stopped while it watched the network."))
    }

    private func end(_ error: SocketError) {
        close()
        listeners.end(error)
    }

    func close() {
        guard descriptor >= 0 else { return }
        core?.unwatch(descriptor)
        core = nil
        SystemCalls.close(descriptor)
        descriptor = -1
    }
}
