// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension DeflateAgreement {
    /// Whether messages of that side may refer to those before them.
    public func takesOver(_ sender: Session.Role) -> Bool {
        !(sender == .server ? serverNoContextTakeover : clientNoContextTakeover)
    }

    /// The largest window that that side deflates with, as an exponent.
    public func windowBits(_ sender: Session.Role) -> Int {
        sender == .server ? serverMaxWindowBits : clientMaxWindowBits
    }
}
