// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

// What a response becomes where responses are compressed.

extension Response {
    /// Has the body compressed when it is sent, if the client takes that and the response is one to be compressed.
    mutating func compress(for request: Request, by compression: ResponseCompression) {
        let verdict = verdict(for: request, by: compression)
        note(verdict)
        guard case .coded(let coding) = verdict else { return }
        // What is pushed goes out as it is made, whatever a step has said that it is.
        if case .pushed = body.content { return }
        otherFields[.contentEncoding] = coding.rawValue
        // Lengths and ranges are of the content as it was.
        otherFields[.contentLength] = nil
        otherFields[.acceptRanges] = nil
        body = ResponseBody(content: .coded(CodedBody(body, coding, level: compression.level)))
    }

    /// Has a 304 say what the response in whose place it is would have said.
    mutating func note(originally original: Response, for request: Request, by compression: ResponseCompression) {
        note(original.verdict(for: request, by: compression))
    }

    private func verdict(for request: Request, by compression: ResponseCompression) -> ResponseCompression.Verdict {
        let type = (mediaType ?? otherFields[.contentType]).map(MediaType.init(rawValue:))
        return compression.verdict(
            status: status,
            type: type,
            fields: otherFields,
            length: body.count,
            accepting: request.acceptedCodings
        )
    }

    private mutating func note(_ verdict: ResponseCompression.Verdict) {
        if verdict != .same { vary(by: .acceptEncoding) }
        if case .coded = verdict { weakenTag() }
    }

    /// The tag of other bytes that are worth the same: a strong one names these bytes only (RFC 9110 section 8.8.3).
    private mutating func weakenTag() {
        guard let tag = otherFields[.eTag].flatMap(EntityTag.init(field:)), !tag.isWeak else { return }
        otherFields[.eTag] = "W/\(tag)"
    }
}
