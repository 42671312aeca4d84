//go:build !windows

package terminal

import "os"

func takesEscapes(*os.File) bool { return true }
