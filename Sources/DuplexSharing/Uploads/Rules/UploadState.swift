// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// An upload that a client wants to begin (tus, Creation).
struct UploadCreation: Sendable, Hashable {
    /// How many bytes it will have; nil if it is announced later, and for one that is made of others.
    let length: UInt64?
    let metadata: UploadMetadata
    let concatenation: UploadConcatenation
    /// Whether its first bytes come with the request.
    let hasContent: Bool

    /// Reads a POST.
    ///
    /// - Parameters:
    ///   - headers: of the request.
    ///   - bodyLength: of its body; nil where that is known at its end only.
    ///   - maximum: the most bytes that an upload may have.
    /// - Throws: ``UploadRefusal``.
    init(_ headers: HTTPFields, bodyLength: Int?, maximum: UInt64) throws(UploadRefusal) {
        guard let concatenation = UploadConcatenation(headers[UploadProtocol.concatenation]) else {
            throw UploadRefusal(.badRequest, "Upload-Concat is “partial”, or “final;” and up to 1,000 URLs.")
        }
        guard let metadata = headers[UploadProtocol.metadata].map(UploadMetadata.init) ?? UploadMetadata.none else {
            throw UploadRefusal(.badRequest, "Upload-Metadata is keys and values in base64, each key once.")
        }
        self.concatenation = concatenation
        self.metadata = metadata
        length = try Self.length(headers, concatenation)
        if let length, length > maximum { throw UploadProtocol.tooLong(maximum) }
        hasContent = bodyLength != 0
        guard hasContent else { return }
        if case .final = concatenation {
            throw UploadRefusal(.badRequest, "What is made of other uploads has no bytes of its own.")
        }
        try UploadProtocol.checkContentType(headers)
    }

    private static func length(
        _ headers: HTTPFields,
        _ concatenation: UploadConcatenation
    ) throws(UploadRefusal) -> UInt64? {
        let length = try UploadProtocol.count(UploadProtocol.length, headers)
        let deferred = headers[UploadProtocol.deferred]
        if case .final = concatenation {
            if length == nil && deferred == nil { return nil }
            throw UploadRefusal(.badRequest, "The length of what is made of other uploads is theirs.")
        }
        guard (length == nil) == (deferred == "1"), length == nil || deferred == nil else {
            throw UploadRefusal(.badRequest, "Either Upload-Length says how long it is, or Upload-Defer-Length: 1.")
        }
        return length
    }
}

/// Bytes that a client wants to append (tus, PATCH).
struct UploadAppending: Sendable, Hashable {
    enum Check: Sendable, Hashable {
        case none
        case digest(UploadChecksum)
        /// After the body.
        case trailer
    }

    /// How long the whole is, as far as that is known by now.
    let length: UInt64?
    /// How many bytes may come.
    let room: UInt64
    let check: Check

    /// Reads what a request says of the bytes in its body.
    ///
    /// - Parameters:
    ///   - headers: of the request.
    ///   - bodyLength: of its body; nil where that is known at its end only.
    ///   - state: how far the upload is.
    ///   - maximum: the most bytes that an upload may have.
    /// - Throws: ``UploadRefusal``.
    init(
        _ headers: HTTPFields,
        bodyLength: Int?,
        to state: UploadState,
        maximum: UInt64
    ) throws(UploadRefusal) {
        if case .final = state.concatenation {
            throw UploadRefusal(.forbidden, "Nothing is appended to what is made of other uploads.")
        }
        try UploadProtocol.checkContentType(headers)
        guard let offset = try UploadProtocol.count(UploadProtocol.offset, headers) else {
            throw UploadRefusal(.badRequest, "Upload-Offset says where the bytes belong.")
        }
        guard offset == state.offset else {
            throw UploadRefusal(.conflict, "There are \(state.offset) bytes, and those are for \(offset).")
        }
        let length = try Self.length(headers, state)
        if let length, length > maximum { throw UploadProtocol.tooLong(maximum) }
        try self.init(headers, bodyLength: bodyLength, at: offset, length: length, maximum: maximum)
    }

    /// The same for the bytes that come with a creation.
    init(
        _ headers: HTTPFields,
        bodyLength: Int?,
        at offset: UInt64,
        length: UInt64?,
        maximum: UInt64
    ) throws(UploadRefusal) {
        self.length = length
        let end = length ?? maximum
        room = end > offset ? end - offset : 0
        if let bodyLength, UInt64(bodyLength) > room {
            throw UploadRefusal(.contentTooLarge, "\(room) bytes are missing, and \(bodyLength) are sent.")
        }
        if let field = headers[UploadProtocol.checksum] {
            check = .digest(try UploadChecksum(field))
        } else {
            check = headers.hasToken("upload-checksum", in: .trailer) ? .trailer : .none
        }
    }

    /// It is set once, and stays.
    private static func length(_ headers: HTTPFields, _ state: UploadState) throws(UploadRefusal) -> UInt64? {
        guard let length = try UploadProtocol.count(UploadProtocol.length, headers) else { return state.length }
        guard length == state.length ?? length, length >= state.offset else {
            throw UploadRefusal(
                .badRequest,
                "The length of an upload doesn't change, and is no less than what there is."
            )
        }
        return length
    }
}

/// How far an upload is.
struct UploadState: Sendable, Hashable {
    var offset: UInt64
    /// Nil until it is known.
    var length: UInt64?
    var concatenation: UploadConcatenation

    init(offset: UInt64, length: UInt64?, concatenation: UploadConcatenation) {
        self.offset = offset
        self.length = length
        self.concatenation = concatenation
    }

    /// Whether all has come.
    var isWhole: Bool { offset == length }

    /// What HEAD is answered with.
    func headers(_ metadata: UploadMetadata) -> HTTPFields {
        var headers: HTTPFields = [.cacheControl: "no-store", UploadProtocol.offset: String(offset)]
        if let length {
            headers[UploadProtocol.length] = String(length)
        } else {
            headers[UploadProtocol.deferred] = "1"
        }
        if !metadata.text.isEmpty { headers[UploadProtocol.metadata] = metadata.text }
        headers[UploadProtocol.concatenation] = concatenation.text
        return headers
    }
}
