// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

// What a response becomes where its request names conditions, and it names a validator.

extension Response {
    /// The response, or in its place 304 or 412 if the conditions of a GET or a HEAD say so (RFC 9110 section 13).
    ///
    /// A handler of another method has done its work by now: it asks ``Request/preconditions`` before.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - refuse: makes the response of a problem.
    /// - Returns: the response, or the one in its place.
    func meetingConditions(of request: Request, _ refuse: (Problem, Request) -> Response) -> Response {
        guard request.head.hasConditions, status == .ok, request.method == .get || request.method == .head,
            let validators
        else { return self }
        switch request.preconditions.verdict(validators) {
        case .proceed: return self
        case .notModified: return notModified
        case .failed:
            return refuse(Problem(.preconditionFailed, "What is here isn't what the request is about."), request)
        }
    }

    /// The validators of this content; nil where it has none.
    private var validators: Preconditions.Validators? {
        let tag = otherFields[.eTag].flatMap(EntityTag.init(field:))
        let modified = otherFields[.lastModified].flatMap { HTTPDate.parse($0, now: .now) }
        return tag == nil && modified == nil ? nil : Preconditions.Validators(tag: tag, modified: modified)
    }

    /// RFC 9110 section 15.4.5: without the content, and what only describes it.
    private var notModified: Response {
        var response = Response(status: .notModified)
        response.otherFields = otherFields
        for name in [HTTPField.Name.contentEncoding, .contentLanguage, .contentRange, .contentDisposition] {
            response.otherFields[name] = nil
        }
        return response
    }
}
