// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

/// What a request gets of a file: all of it, parts, or the word that it has it already.
struct FileContent {
    private let file: OpenedFile
    private let type: MediaType
    private let fields: HTTPFields

    /// Parts that aren't sent by the system are read in pieces of this size.
    private static let pieceSize = 256 * 1_024

    init(_ file: OpenedFile, _ type: MediaType, _ fields: HTTPFields) {
        self.file = file
        self.type = type
        self.fields = fields
    }

    /// The response: conditions come before ranges (RFC 9110 section 13.2.2).
    ///
    /// What becomes of conditions that fail is the matter of the route, as for every response that names a validator.
    func response(to request: Request) throws -> Response {
        guard request.method == .get, let ranges = request.ranges, mayBeParted(request) else { return try whole }
        switch ranges.selection(of: file.size) {
        case .whole: return try whole
        case .unsatisfiable:
            throw Problem(
                .rangeNotSatisfiable,
                "This has \(file.size) bytes, and none of those that are asked for.",
                fields: [.contentRange: "bytes */\(file.size)"]
            )
        case .parts(let parts): return try parts.count == 1 ? part(parts[0]) : several(parts)
        }
    }

    private func mayBeParted(_ request: Request) -> Bool {
        let modified = UnixTime(seconds: file.modified.seconds)
        let tag = fields[.eTag].flatMap(EntityTag.init(field:))
        let validators = Preconditions.Validators(tag: tag, modified: modified)
        return request.preconditions.verdict(validators) == .proceed
            && Preconditions.allowsRange(request.fields, validators, now: .now)
    }

    private var whole: Response {
        get throws { Response(type: type, fields: fields, body: try .file(file, 0..<file.size)) }
    }

    private func part(_ part: Range<UInt64>) throws -> Response {
        var response = Response(status: .partialContent, type: type, fields: fields, body: try .file(file, part))
        response.otherFields[.contentRange] = MultipartRanges.contentRange(part, of: file.size)
        return response
    }

    private func several(_ parts: [Range<UInt64>]) throws -> Response {
        let frame = MultipartRanges(parts, of: file.size, type: type, boundary: RandomText.hexadecimal())
        let body = ResponseBody.writer(length: Int(clamping: frame.count)) { [file] writer in
            for part in frame.parts {
                try await writer.write(frame.head(of: part))
                for piece in stride(from: part.lowerBound, to: part.upperBound, by: Self.pieceSize) {
                    let end = min(part.upperBound, piece + UInt64(Self.pieceSize))
                    try await writer.write(
                        try await BlockingThreads.files.runToEnd { () throws(SocketError) in
                            try file.range(from: piece, count: end - piece).readAll(atMost: Self.pieceSize)
                        }
                    )
                }
            }
            try await writer.write(frame.end)
        }
        return Response(status: .partialContent, type: frame.contentType, fields: fields, body: body)
    }
}

extension ResponseBody {
    /// A part of a file that is open.
    static func file(_ file: OpenedFile, _ range: Range<UInt64>) throws(SocketError) -> ResponseBody {
        ResponseBody(content: .file(try ResponseFile(file.range(from: range.lowerBound, count: UInt64(range.count)))))
    }
}
