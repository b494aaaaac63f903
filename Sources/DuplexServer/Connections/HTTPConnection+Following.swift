// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes
import Logging

// What is done for a request beside answering it: notifying observers, and watching the time.

extension HTTPConnection {
    /// A request has come whose route is looked at, or has a limit of time.
    @inline(never)
    func follow(_ request: Request, at endpoint: Endpoint) {
        let route = endpoint.pattern ?? OwnAnswer.pattern(of: request)
        let limit = endpoint.handler.mayWait ? endpoint.settings.timeLimit : nil
        let record = makeRecord(request, at: route, endpoint.observers, isTimed: limit != nil)
        if let limit { record?.limit(to: limit, self) }
        present = Present(endpoint: endpoint, record: record)
    }

    /// The same for one that asks for a WebSocket; `nil` where nobody looks.
    func record(of request: Request, at endpoint: WebSocketEndpoint) -> ExchangeRecord? {
        let settings = endpoint.settings
        guard settings.followsRequests else { return nil }
        let limit = settings.timeLimit
        let record = makeRecord(request, at: endpoint.pattern, settings.observers, isTimed: limit != nil)
        if let limit { record?.limit(to: limit, self) }
        return record
    }

    /// A record where somebody looks now, or the time is watched.
    private func makeRecord(
        _ request: Request,
        at route: String?,
        _ observers: [any RequestObserver],
        isTimed: Bool
    ) -> ExchangeRecord? {
        if !isTimed && !observers.contains(where: \.isLooking) { return nil }
        var observers = observers
        if !observers.allSatisfy(\.isLooking) { observers.removeAll { !$0.isLooking } }
        return ExchangeRecord(request, at: route, observers, now: services.core.readClock())
    }

    /// What a response goes through before it is sent.
    @inline(__always)
    func finish(_ response: inout Response, at endpoint: Endpoint, _ request: Request) {
        if endpoint.isAnswerFollowed { return follow(&response, at: endpoint, request) }
        meetConditions(&response, at: endpoint, request)
    }

    @inline(__always)
    private func meetConditions(_ response: inout Response, at endpoint: Endpoint, _ request: Request) {
        // Only a response that has a field of its own can name a validator.
        if !response.otherFields.isEmpty {
            response = response.meetingConditions(of: request, endpoint.settings.response)
        }
    }

    @inline(never)
    private func follow(_ response: inout Response, at endpoint: Endpoint, _ request: Request) {
        checkFile(of: &response, at: endpoint, request)
        let original = response
        meetConditions(&response, at: endpoint, request)
        endpoint.settings.finishing?.run(request, &response, inPlaceOf: original)
        present?.record?.answered(response)
    }

    /// The response is sent, or never will be: observers are notified.
    ///
    /// The route stays noted for as long as its handler runs.
    func endRecord(isCut: Bool) {
        guard let record = present?.record else { return }
        present?.record = nil
        record.end(isCut: isCut, now: services.core.readClock())
    }

    /// How far the present request has come; `nil` without an observer.
    func progress(now: Instant) -> RequestProgress? {
        present?.record?.progress(ofFile: file?.transfer.taken ?? 0, now: now)
    }

    // MARK: What is answered in a handler's place

    /// Answers what couldn't be read: nobody is asked, and those who see each response see this one.
    func refuseUnread(_ error: HTTPError) {
        let settings = services.table.settings
        let request = Request(head: .unread, client: client)
        let response = settings.finalResponse(of: Problem(error.status, error.message), request)
        if present == nil && !settings.observers.isEmpty {
            let record = makeRecord(request, at: nil, settings.observers, isTimed: false)
            record?.answered(response)
            present = Present(record: record)
        }
        respond(response, to: request)
    }

    /// The handler has taken as long as it may: its client is answered, and the connection ends as if that had gone.
    func handlerIsLate() {
        guard stage == .serving, let present, let record = present.record, let settings = present.settings else {
            return
        }
        services.logger.debug("a handler has taken too long", metadata: ["route": "\(present.route)"])
        let problem = Problem(.serviceUnavailable, "This took longer than the server waits for it.")
        let response = settings.finalResponse(of: problem, record.request)
        record.answered(response)
        present.opening?.span?.refused(response.status)
        present.opening?.span = nil
        session.shutDown()
        respond(response, to: record.request)
        // The handler may run on.
        self.present = Present(endpoint: present.endpoint, opening: present.opening)
        cancelHandler()
    }
}
