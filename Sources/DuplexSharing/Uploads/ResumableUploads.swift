// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// Answers the requests of resumable uploads (tus 1.0.0).
final class ResumableUploads: Sendable {
    let folder: SharedFolder
    let options: ResumableUploadOptions
    let store: UploadStore
    private let leases = UploadLeases()
    let now: @Sendable () -> UnixTime

    /// How long a complete upload and its place are remembered, for a client that has missed the response.
    private static let memory: Int64 = 600

    /// Makes one.
    ///
    /// - Parameters:
    ///   - folder: where uploads go, and where they lie until they are whole.
    ///   - options: how they are taken.
    ///   - now: what time it is by the calendar. Default: the system's.
    init(_ folder: SharedFolder, _ options: ResumableUploadOptions, now: @escaping @Sendable () -> UnixTime = { .now })
    {
        self.folder = folder
        self.options = options
        self.now = now
        store = UploadStore(folder, options)
    }

    /// The most bytes that an upload may have.
    var maximum: UInt64 { UInt64(clamping: min(options.size.bytes, folder.options.fileSize.bytes)) }

    var expiry: UnixTime { now().advanced(by: options.lifetime) }

    // MARK: Requests

    /// Answers a request for a new upload, or for all of them.
    func answer(_ request: Request) async throws -> Response {
        try await answer(request) { method in
            switch method {
            case .post: try await self.create(request)
            default: throw Problem(.methodNotAllowed, "Uploads are made by POST.", fields: [.allow: "OPTIONS, POST"])
            }
        }
    }

    /// Answers a request for one upload.
    func answer(_ request: Request, id: String) async throws -> Response {
        try await answer(request) { method in
            guard [.head, .patch, .delete].contains(method) else {
                throw Problem(
                    .methodNotAllowed,
                    "Uploads are looked at, continued and ended.",
                    fields: [.allow: "OPTIONS, HEAD, PATCH, DELETE"]
                )
            }
            let sleep: @Sendable (Duration) async throws -> Void = { try await request.client.sleep(for: $0) }
            return try await self.leases.hold(id, sleep: sleep) {
                let found = try await self.find(id, for: request)
                switch method {
                case .head: return try await self.look(request, id, found)
                case .patch: return try await self.resume(request, id, found)
                default: return try await self.end(id)
                }
            }
        }
    }

    private func answer(
        _ request: Request,
        _ body: (HTTPRequest.Method) async throws -> Response
    ) async throws -> Response {
        let method = UploadProtocol.method(request.method, request.fields)
        if method == .options {
            let maximum = maximum < UInt64(Int.max) ? maximum : nil
            return Response(status: .noContent, fields: UploadProtocol.description(maximum: maximum))
        }
        do {
            try UploadProtocol.checkVersion(request.fields)
            var response = try await body(method)
            response.fields[UploadProtocol.resumable] = UploadProtocol.version
            return response
        } catch let refusal as UploadRefusal {
            var problem = Problem(refusal.status, refusal.message)
            if refusal.status == .preconditionFailed {
                problem.fields[UploadProtocol.versions] = UploadProtocol.version
            }
            throw Self.marked(problem)
        } catch let error as FolderError {
            throw Self.marked(error.problem)
        } catch let problem as Problem {
            throw Self.marked(problem)
        }
    }

    /// All answers say which version this is.
    private static func marked(_ problem: Problem) -> Problem {
        var problem = problem
        problem.fields[UploadProtocol.resumable] = UploadProtocol.version
        return problem
    }

    /// The upload; somebody else's is none.
    func find(_ id: String, for request: Request) async throws -> UploadStore.Found {
        let found = try await SharedFolder.run { [store, now] () throws(FolderError) in
            let found = try store.find(id)
            try store.sweep(now: now())
            return found
        }
        guard let found, found.record.user == request[AuthenticatedUser.self] else {
            throw UploadRefusal(.notFound, "There is no such upload.")
        }
        if found.record.expires <= now() {
            await remove(id)
            throw UploadRefusal(.gone, "The upload has expired.")
        }
        return found
    }

    func remove(_ id: String) async {
        _ = try? await SharedFolder.run { [store] () throws(FolderError) in store.remove(id) }
    }

    func write(_ record: UploadRecord, _ id: String) async throws {
        try await SharedFolder.run { [store] () throws(FolderError) in
            try FolderStore.attempt(.root) { () throws(SocketError) in try store.write(record, id) }
        }
    }

    // MARK: Looking, continuing, ending

    private func look(_ request: Request, _ id: String, _ found: UploadStore.Found) async throws -> Response {
        // Whole, and without its name: what kept it from getting it may be over.
        let path = try await settle(id, found.record, found, FolderVisitor(request))
        var fields = found.state.fields(found.record.metadata)
        fields[UploadProtocol.expires] = HTTPDate.string(found.record.expires)
        fields[UploadProtocol.path] = path
        return Response(fields: fields)
    }

    private func resume(_ request: Request, _ id: String, _ found: UploadStore.Found) async throws -> Response {
        let appending = try UploadAppending(
            request.fields,
            bodyLength: request.body.length,
            to: found.state,
            maximum: maximum
        )
        var found = found
        if found.isHere { found = try await append(request, id, found, appending) }
        let path = try await settle(id, found.record, found, FolderVisitor(request))
        var fields: HTTPFields = [UploadProtocol.offset: String(found.offset)]
        fields[UploadProtocol.expires] = HTTPDate.string(found.record.expires)
        fields[UploadProtocol.path] = path
        return Response(status: .noContent, fields: fields)
    }

    private func end(_ id: String) async throws -> Response {
        await remove(id)
        return Response(status: .noContent)
    }

    /// Gives an upload that is whole its name.
    ///
    /// - Returns: the path, percent-encoded, where it has it by now and it is known.
    func settle(
        _ id: String,
        _ record: UploadRecord,
        _ found: UploadStore.Found,
        _ visitor: FolderVisitor
    ) async throws -> String? {
        var record = record
        if found.isHere && found.state.isWhole && record.concatenation != .partial {
            let target = try UploadTarget(record.metadata, clash: options.clash)
            record.path = try await finish(id, target, size: found.offset, visitor).text
            record.expires = UnixTime(seconds: now().seconds + Self.memory)
            store.settle(id)
            // It has its name; that this couldn't be noted is no fault of the client's.
            try? await write(record, id)
        } else if found.state.isWhole {
            store.settle(id)
        }
        return record.path.map { path in
            path.split(separator: "/").map { PercentEncoding.segment(String($0)) }.joined(separator: "/")
        }
    }
}
