// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import HTTPTypes

extension RouteOption {
    /// Who makes a request is what its field `X-User` says.
    static let userField = RouteOption.before { request in
        request.user = HTTPField.Name("X-User").flatMap { request.headers[$0] }
        return nil
    }
}
