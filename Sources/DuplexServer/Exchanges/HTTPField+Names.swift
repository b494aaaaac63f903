// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
package import HTTPTypes

extension HTTPField.Name {
    static let xRequestID = Self(known: "X-Request-ID")
    static let xRequestedWith = Self(known: "X-Requested-With")
    static let xForwardedProto = Self(known: "X-Forwarded-Proto")
    static let link = Self(known: "Link")
    package static let secFetchSite = Self(known: "Sec-Fetch-Site")
    package static let referrerPolicy = Self(known: "Referrer-Policy")
    static let lastEventID = Self(known: "Last-Event-ID")
    static let xAccelBuffering = Self(known: "X-Accel-Buffering")
    package static let xFrameOptions = Self(known: "X-Frame-Options")
}
