variable "unused_there" { default = 1 }
