// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// The outcome of a request, once its response is sent or has failed; see ``RouteOption/completed(_:)``.
public struct RequestOutcome: Sendable {
    /// The path of the route as the app has written it, such as `/users/:id`; `nil` where no route answers.
    public let route: String?
    /// The status of the response; `nil` where the client had gone before there was one.
    public let status: HTTPResponse.Status?
    /// How many bytes of the request's body had come by then.
    public let receivedBytes: Int
    /// How many bytes of the response's body were handed to the connection, without what frames them.
    public let sentBytes: Int
    /// The time from the request's head to the last byte of the response that was handed to the connection.
    ///
    /// What the client has taken of it by then is for the system to know.
    public let duration: Duration
    /// Whether the client didn't get a whole response: it has gone, or the body has failed.
    public let isCut: Bool
    /// What the handler or the body has failed with; `nil` for what was thrown to be answered, such as a ``Problem``.
    public let error: (any Error)?
}
