// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Descriptors 0 to 2, which the process may have been started without (`>&-`).
enum StandardDescriptors {
    /// Opens those that are closed, and has a write to a pipe without a reader fail rather than end the process.
    ///
    /// The first thing that the process does: the system gives the lowest free number to whatever is opened next, so an
    /// event loop, a socket or a key file would become standard output, and lines would be written into it.
    ///
    /// /dev/null is opened for the opposite direction, so that reading and writing still fail with EBADF, as they do
    /// with a closed descriptor: output that is lost is an error, and not discarded as with `> /dev/null`.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor in STDIN_FILENO...STDERR_FILENO where !isOpen(descriptor) {
            let opened = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
            // Without /dev/null, as in an empty root folder, there is no safe place for the next descriptor.
            guard opened == descriptor else { _exit(CommandStatus.failure.rawValue) }
        }
    }

    private static func isOpen(_ descriptor: Int32) -> Bool {
        fcntl(descriptor, F_GETFD) >= 0
    }
}

/// How many descriptors the system lets this process have; each connection takes one.
enum DescriptorLimit {
    /// Raises the limit as far as the process may by itself.
    ///
    /// Systems begin with 1,024 for the sake of programs that use select(2), which can't count further, and expect of
    /// others that they ask for more. What is refused stays as it is: the one who lacks a descriptor in the end says so.
    ///
    /// - Returns: the limit that holds from now on; 0 if the system doesn't say.
    @discardableResult
    static func raise() -> UInt64 {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return 0 }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        return UInt64(unsafe setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before)
    }

    #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let resource = RLIMIT_NOFILE
    #endif
}
