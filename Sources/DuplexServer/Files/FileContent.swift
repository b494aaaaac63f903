// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
import DuplexWire
import HTTPTypes

/// What a request gets of a file: all of it, parts, or the word that it has it already.
struct FileContent: Sendable {
    private let form: ServedFile.Form
    private let type: MediaType
    private var file: OpenedFile { form.file }

    /// Parts that aren't sent by the system are read in pieces of this size.
    private static let pieceSize = 256 * 1_024

    init(_ form: ServedFile.Form, _ type: MediaType) {
        self.form = form
        self.type = type
    }

    /// The response: conditions come before ranges (RFC 9110 section 13.2.2).
    ///
    /// The route answers conditions that fail, as for every response that names a validator.
    func response(to request: Request) throws -> Response {
        if let bytes = form.bytes { return Response(type: type, prepared: form.headers, body: .bytes(bytes)) }
        guard request.head.hasRange, request.method == .get, let ranges = request.ranges, mayBeParted(request) else {
            return Response(type: type, prepared: form.headers, body: .file(file, 0..<file.size))
        }
        switch ranges.selection(of: file.size) {
        case .whole: return Response(type: type, prepared: form.headers, body: .file(file, 0..<file.size))
        case .unsatisfiable:
            throw Problem(
                .rangeNotSatisfiable,
                "This has \(file.size) bytes, and none of those that are asked for.",
                headers: [.contentRange: "bytes */\(file.size)"]
            )
        case .parts(let parts): return parts.count == 1 ? part(parts[0]) : several(parts)
        }
    }

    private func mayBeParted(_ request: Request) -> Bool {
        let modified = UnixTime(seconds: file.modified.seconds)
        var validators = Preconditions.Validators(tag: form.tag, modified: modified)
        guard request.preconditions.verdict(validators) == .proceed else { return false }
        // The client's other parts may be of a content that was there a moment ago, under the same tag.
        if !file.status.isSettled(now: .now) { validators.tag = form.tag.flatMap { EntityTag($0.text, isWeak: true) } }
        return Preconditions.allowsRange(request.headers, validators, now: .now)
    }

    private func part(_ part: Range<UInt64>) -> Response {
        var response = Response(
            .partialContent,
            type: type,
            headers: form.headers.headers,
            body: .file(file, part)
        )
        response.otherFields[.contentRange] = MultipartRanges.contentRange(part, of: file.size)
        return response
    }

    private func several(_ parts: [Range<UInt64>]) -> Response {
        let frame = MultipartRanges(parts, of: file.size, type: type, boundary: RandomText.hexadecimal())
        let body = ResponseBody.writer(length: Int(clamping: frame.count)) { [file] writer in
            for part in frame.parts {
                try await writer.write(frame.head(of: part))
                for piece in stride(from: part.lowerBound, to: part.upperBound, by: Self.pieceSize) {
                    let end = min(part.upperBound, piece + UInt64(Self.pieceSize))
                    try await writer.write(
                        try await BlockingThreads.files.runToEnd { () throws(SocketError) in
                            try FileRange(file.part(piece..<end)).readAll(atMost: Self.pieceSize)
                        }
                    )
                }
            }
            try await writer.write(frame.end)
        }
        return Response(
            .partialContent,
            type: frame.contentType,
            headers: form.headers.headers,
            body: body
        )
    }
}

extension ResponseBody {
    /// A part of a file that was just looked at.
    static func file(_ file: OpenedFile, _ range: Range<UInt64>) -> ResponseBody {
        ResponseBody(content: .file(ResponseFile(fresh: file.part(range))))
    }
}

extension Response {
    /// A file, or parts of it, or the word that the client has it already; in no coding.
    ///
    /// - Parameters:
    ///   - file: the file, which is open.
    ///   - path: where it is.
    ///   - name: its name, for its type.
    ///   - request: the request.
    /// - Returns: the response.
    /// - Throws: ``Problem`` with 416.
    package static func file(
        _ file: OpenedFile,
        at path: String,
        named name: String,
        to request: Request
    ) throws -> Response {
        var options = FileOptions()
        options.usesPrecompressed = false
        options.compression = .disabled
        let served = ServedFile(file, path: path, name: name, options)
        return try FileContent(served.plain, served.type).response(to: request)
    }
}
