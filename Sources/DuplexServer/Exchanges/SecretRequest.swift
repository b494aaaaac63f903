// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Noted with a request whose query holds a secret, and which is nobody's business: no log has its query.
package enum SecretRequest: RequestKey {
    package typealias Value = Bool
}
