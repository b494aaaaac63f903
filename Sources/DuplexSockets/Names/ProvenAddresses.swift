// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The address of each name that a connection was last made to; of a bounded number of names.
struct ProvenAddresses {
    private var addresses: [String: (address: SocketAddress, use: UInt64)] = [:]
    private var uses: UInt64 = 0
    private let capacity: Int

    /// One that knows nothing.
    ///
    /// - Parameter capacity: how many names it remembers; beyond that, the one goes that was set least recently.
    init(capacity: Int) {
        self.capacity = max(0, capacity)
    }

    var count: Int { addresses.count }

    subscript(name: String) -> SocketAddress? {
        get { addresses[name]?.address }
        set {
            uses += 1
            addresses[name] = newValue.map { ($0, uses) }
            guard addresses.count > capacity else { return }
            if let oldest = addresses.min(by: { $0.value.use < $1.value.use }) { addresses[oldest.key] = nil }
        }
    }

    mutating func removeAll() {
        addresses = [:]
    }

    /// The answer with the address marked, if it has it.
    func marked(_ resolution: Resolution, of name: String) -> Resolution {
        guard let address = self[name], resolution.addresses.contains(address) else { return resolution }
        var marked = resolution
        marked.proven = address
        return marked
    }
}
