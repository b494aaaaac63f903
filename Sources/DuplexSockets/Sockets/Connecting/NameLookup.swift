// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Asks a resolver for one name, with a deadline that holds even against one that ignores cancellation.
///
/// Lives on one loop. The resolver runs in a task of its own, on that loop as well: a program that keeps the threads of the
/// global executor busy doesn't keep its connections waiting.
final class NameLookup: TimerTarget, StopObserver {
    private let host: String
    private let resolver: any Resolver
    private let loop: EventLoop
    private let core: LoopCore
    private var completion: ((Result<Resolution, SocketError>) -> Void)?
    private var task: Task<Void, Never>?
    private var timer: TimerID?
    private var timeout = Duration.zero

    /// Prepares a look-up.
    ///
    /// - Parameters:
    ///   - host: the name.
    ///   - resolver: the resolver.
    ///   - loop: the loop that the look-up lives on.
    ///   - core: the inside of that loop.
    ///   - completion: called once, on the loop; not called after ``cancel()``.
    init(
        _ host: String,
        resolver: any Resolver,
        loop: EventLoop,
        core: LoopCore,
        completion: @escaping (Result<Resolution, SocketError>) -> Void
    ) {
        self.host = host
        self.resolver = resolver
        self.loop = loop
        self.core = core
        self.completion = completion
    }

    /// Begins.
    ///
    /// - Parameters:
    ///   - deadline: when it is given up.
    ///   - timeout: the time that the deadline is for, for people.
    func start(deadline: Instant, _ timeout: Duration) {
        self.timeout = timeout
        do throws(SocketError) {
            try core.observeStop(self)
        } catch {
            finish(.failure(error))
            return
        }
        timer = core.schedule(self, at: deadline)
        task = Self.task(host, resolver, loop, LoopBound(Weak(self), on: loop.thread))
    }

    /// Asks in a task that holds nothing of the connection, since its resolver may be left behind for long.
    private static func task(
        _ host: String,
        _ resolver: any Resolver,
        _ loop: EventLoop,
        _ lookup: LoopBound<Weak>
    ) -> Task<Void, Never> {
        Task(executorPreference: loop) {
            let result = await ask(resolver, host)
            if Task.isCancelled { return }
            loop.execute { _ in lookup.value.lookup?.finish(result) }
        }
    }

    /// Gives up; nobody is notified, and an answer that comes later is dropped.
    func cancel() {
        completion = nil
        core.forgetStop(self)
        task?.cancel()
        task = nil
        if let timer { core.cancel(timer) }
        timer = nil
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        guard timer == self.timer else { return }
        self.timer = nil
        finish(.failure(SocketError(.timedOut, message: "“\(host)” was not looked up within \(timeout.rounded).")))
    }

    func loopStopped() {
        let message = "The event loop was stopped while “\(host)” was looked up."
        finish(.failure(SocketError(.loopStopped, message: message)))
    }

    private struct Weak {
        weak var lookup: NameLookup?

        init(_ lookup: NameLookup) {
            self.lookup = lookup
        }
    }

    private func finish(_ result: Result<Resolution, SocketError>) {
        let completion = completion
        cancel()
        completion?(result)
    }

    private static func ask(_ resolver: any Resolver, _ host: String) async -> Result<Resolution, SocketError> {
        do {
            let resolution = try await resolver.resolve(host)
            if resolution.addresses.isEmpty { throw SocketError(.unknownHost, message: "“\(host)” has no address.") }
            return .success(resolution)
        } catch let error as SocketError {
            return .failure(error)
        } catch {
            return .failure(SocketError(.unknownHost, message: "“\(host)” could not be looked up: \(error)."))
        }
    }
}
