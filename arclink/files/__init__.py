"""Files wherever they are: on this machine, inside a WACZ. One opener for all that is read of them."""
